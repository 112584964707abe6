/**
 * The completion scripts. Each passes the words up to the cursor to `deployer __complete` and lists what that prints; where it
 * prints nothing, the shell completes files.
 */
export const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `
# Completion of deployer for bash. Add to ~/.bashrc: source <(deployer completion bash)
_deployer() {
  local IFS=$'\\n' current="\${COMP_WORDS[COMP_CWORD]:-}" prefix='' line
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  # bash splits --flag=value at the sign; it is one word for deployer.
  if [[ $current == '=' ]]; then
    words=("\${COMP_WORDS[@]:1:COMP_CWORD-2}" "\${COMP_WORDS[COMP_CWORD-1]}=")
    prefix="\${COMP_WORDS[COMP_CWORD-1]}="
  elif [[ COMP_CWORD -ge 3 && \${COMP_WORDS[COMP_CWORD-1]} == '=' ]]; then
    words=("\${COMP_WORDS[@]:1:COMP_CWORD-3}" "\${COMP_WORDS[COMP_CWORD-2]}=$current")
    prefix="\${COMP_WORDS[COMP_CWORD-2]}="
  fi
  COMPREPLY=()
  while read -r line; do
    line="\${line#"$prefix"}"
    COMPREPLY+=("$(printf '%q' "$line")")
  done < <(deployer __complete -- "\${words[@]}" 2>/dev/null)
}
complete -o default -F _deployer deployer
`,
  zsh: `
#compdef deployer
# Completion of deployer for zsh. Add to ~/.zshrc, after compinit: source <(deployer completion zsh)
_deployer() {
  local -a found
  found=("\${(@f)$(deployer __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  if (( \${#found} == 0 )) || [[ -z "\${found[1]}" ]]; then
    _files
  else
    compadd -- "\${found[@]}"
  fi
}
compdef _deployer deployer
`,
  fish: `
# Completion of deployer for fish: deployer completion fish > ~/.config/fish/completions/deployer.fish
function __deployer_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (deployer __complete -- $words[2..-1] 2>/dev/null)
    if test (count $found) -eq 0
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $found
    end
end
complete -c deployer -f -a '(__deployer_complete)'
`,
}

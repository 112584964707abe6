import type { Recipe } from './index.ts'
import { elixir, ruby, rust } from './languages-more.ts'
import { build, node, python } from './languages.ts'

/** The full image next to a slim one, or the slim one next to a full: the same programs, and git if a test asks for it. */
function beside(from: Recipe, tags: string[], hasGit: boolean): Recipe {
  const git =
    'RUN apt-get update -qq && apt-get install -y -qq git >/dev/null && rm -rf /var/lib/apt/lists/*\n'
  return {
    tags,
    from,
    text: `FROM ${from.tags[0]!}\n${hasGit ? git : 'LABEL other=true\n'}`,
    make: (folder, text) => build(folder, text, tags[0]!),
  }
}

/** The images that plans build with when they run in another one. */
export const others: Recipe[] = [
  beside(
    node,
    node.tags.map((tag) => tag.replace('-slim', '')),
    true,
  ),
  beside(
    python,
    python.tags.map((tag) => tag.replace('-slim', '')),
    false,
  ),
  beside(ruby, ['ruby:3.4-slim-bookworm'], false),
  beside(elixir, ['elixir:1.18'], false),
  // Cargo brings a C compiler.
  beside(rust, ['buildpack-deps:bookworm'], false),
]

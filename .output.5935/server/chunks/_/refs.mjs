const MAX_REF_BYTES = 255;
const HEXADECIMAL_COMMIT = /^[0-9a-f]{4,64}$/i;
function branchNameFault(name) {
  if (name === "") return "must not be empty";
  if (Buffer.byteLength(name) > MAX_REF_BYTES) return `must have at most ${MAX_REF_BYTES} bytes`;
  if (name.startsWith("-")) return 'must not begin with "-"';
  if (name === "HEAD" || name === "@") return `must not be "${name}": leave it out for the default branch`;
  if (/[\u0000-\u0020\u007f~^:?*[\\]/.test(name)) {
    return "must not contain spaces, control characters or any of ~ ^ : ? * [ \\";
  }
  if (name.includes("..") || name.includes("@{") || name.includes("//"))
    return 'must not contain "..", "@{" or "//"';
  if (name.startsWith("/") || name.endsWith("/") || name.endsWith("."))
    return 'must not begin or end with "/" or end with "."';
  const parts = name.split("/");
  if (parts.some((part) => part.startsWith(".") || part.endsWith(".lock"))) {
    return 'must not have a part that begins with "." or ends with ".lock"';
  }
  return null;
}
function commitFault(text) {
  if (HEXADECIMAL_COMMIT.test(text)) return null;
  const fault = branchNameFault(text);
  return fault === null ? null : `${fault}; give 4 to 64 hex characters or the name of a branch or tag`;
}
function isBranchOrTag(name) {
  return /^refs\/(heads|tags)\//.test(name);
}
function isFullCommit(text) {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(text);
}
function isAbbreviatedCommit(text) {
  return HEXADECIMAL_COMMIT.test(text) && !isFullCommit(text);
}

export { isAbbreviatedCommit as a, isBranchOrTag as b, branchNameFault as c, commitFault as d, isFullCommit as i };

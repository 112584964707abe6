function relativePathFault(path) {
  if (path.startsWith("/") || path.startsWith("~")) return "must be relative to the source tree";
  if (path.split("/").includes("..")) return "must not leave the source tree (..)";
  return hasControlCharacter(path) || path.includes("\\") ? "must not contain control characters or backslashes" : null;
}
function healthPathFault(path) {
  return /^\/[!-~]*$/.test(path) && !path.includes("#") ? null : "must start with / and hold visible ASCII characters only";
}
const SYSTEM_FOLDERS = ["/", "/proc", "/sys", "/dev", "/etc", "/usr", "/bin", "/lib", "/var/run"];
const KERNEL_FOLDERS = ["/proc/", "/sys/", "/dev/"];
function mountPathFault(path) {
  if (!path.startsWith("/")) return "must be absolute, such as /data";
  if (path.split("/").includes("..")) return "must not contain ..";
  if (hasControlCharacter(path) || /[:,\\]/.test(path))
    return "must not contain control characters, colons, commas or backslashes";
  const folder = normalMountPath(path);
  const isSystem = SYSTEM_FOLDERS.includes(folder) || KERNEL_FOLDERS.some((kernel) => folder.startsWith(kernel));
  return isSystem ? `must not be ${folder}, which belongs to the system` : null;
}
function normalMountPath(path) {
  return `/${path.split("/").filter((segment) => segment !== "" && segment !== ".").join("/")}`;
}
const HOST = "(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\\[[0-9a-fA-F:]+\\])(?::\\d{1,5})?";
const PATH = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const IMAGE = new RegExp(
  `^(?:${HOST}/)?${PATH}(?:/${PATH})*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`
);
function imageFault(reference) {
  if (reference.length > 512 || !IMAGE.test(reference)) {
    return "must be an image reference such as registry.example.com/team/api:2";
  }
  return null;
}
function hasControlCharacter(text) {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 32 || code === 127) return true;
  }
  return false;
}
function imagePath(reference) {
  const named = reference.split("@")[0];
  return named.replace(/:[^/:]+$/, "");
}
const APT_PACKAGE = /^[a-z0-9][a-z0-9+.-]+$/;

export { APT_PACKAGE as A, imagePath as a, healthPathFault as h, imageFault as i, mountPathFault as m, normalMountPath as n, relativePathFault as r };

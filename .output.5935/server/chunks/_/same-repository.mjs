import { p as parseRepositoryUrl } from './url.mjs';

function repositoryKey(url) {
  const parsed = parseRepositoryUrl(url);
  if (!parsed) return null;
  const path = parsed.path.split("/").filter((part) => part !== "").join("/").replace(/\.git$/i, "").replace(/^~\//, "");
  return `${parsed.host.toLowerCase()}/${path.toLowerCase()}`;
}

export { repositoryKey as r };

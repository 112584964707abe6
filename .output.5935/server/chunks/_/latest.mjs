const FRESH_MS = 3e4;
let latest = null;
function publishLatest(found) {
  latest = { ...found, takenAt: performance.now() };
}
function freshLatest() {
  return latest !== null && performance.now() - latest.takenAt <= FRESH_MS ? latest : null;
}
function freshContainers() {
  return new Map(freshLatest()?.reading?.containers?.map((each) => [each.container, each]));
}

export { freshContainers as a, freshLatest as f, publishLatest as p };

const PROPERTIES = {
  service: ["hostport", "host", "port", "url"],
  datastore: ["url", "host", "port", "database", "username", "password"]
};
class ReferenceFault extends Error {
  name = "ReferenceFault";
  /** The variable whose value cannot be resolved; empty where only a value was looked at. */
  key;
  /** What is not there, or lacks what is referred to; null where something else is wrong. */
  missing;
  constructor(message, key = "", missing = null) {
    super(message);
    this.key = key;
    this.missing = missing;
  }
}
const ESCAPE_HINT = "write $${{ where the text ${{ itself is meant";
const OPENING = "${{";
const CLOSING = "}}";
function parseValue(value) {
  const parts = [];
  let at = 0;
  for (let start = value.indexOf(OPENING); start !== -1; start = value.indexOf(OPENING, at)) {
    if (value[start - 1] === "$") {
      parts.push(value.slice(at, start - 1), OPENING);
      at = start + OPENING.length;
      continue;
    }
    const end = value.indexOf(CLOSING, start);
    if (end === -1) throw new ReferenceFault("holds ${{ without the }} that ends a reference");
    parts.push(value.slice(at, start), parseReference(value.slice(start + OPENING.length, end)));
    at = end + CLOSING.length;
  }
  parts.push(value.slice(at));
  return parts.filter((part) => part !== "");
}
function writeReference({ kind, name, property }) {
  return `${OPENING}${kind}.${name}.${property}${CLOSING}`;
}
const REFERENCE = /^[ \t]*(service|datastore)\.([a-z0-9-]+)(?:\.([A-Za-z0-9_.]+))?[ \t]*$/;
const OWN_VARIABLE = /^env\.([A-Za-z_][A-Za-z0-9_]*)$/;
function parseReference(content) {
  const [, kind, name, named] = REFERENCE.exec(content) ?? [];
  if (kind === void 0 || name === void 0) {
    throw new ReferenceFault(
      "holds ${{ that begins no reference such as ${{service.NAME.PROP}} or ${{datastore.NAME.PROP}}"
    );
  }
  const property = named ?? PROPERTIES[kind][0];
  const key = kind === "service" ? OWN_VARIABLE.exec(property)?.[1] ?? null : null;
  if (key === null && !PROPERTIES[kind].includes(property)) {
    const known = [...PROPERTIES[kind], ...kind === "service" ? ["env.KEY"] : []];
    throw new ReferenceFault(
      `holds ${writeReference({ kind, name, property})}, but a ${kind} has ${known.join(", ")} only`
    );
  }
  return { kind, name, property, key };
}

export { ESCAPE_HINT as E, PROPERTIES as P, ReferenceFault as R, parseValue as p, writeReference as w };

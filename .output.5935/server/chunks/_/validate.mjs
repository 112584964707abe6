import { A as AppError } from '../nitro/nitro.mjs';

const MAX_FAULTS = 5;
function validate(schema, input, most = MAX_FAULTS) {
  const result = schema.safeParse(input, { error: describe });
  if (result.success) return result.data;
  const faults = result.error.issues.flatMap(explain);
  throw new AppError("invalid_request", faults.slice(0, most).join("; "));
}
function explain(issue) {
  const path = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    return issue.keys.slice(0, MAX_FAULTS).map((key) => `${path === "" ? "" : `${path}.`}${key}: unknown field`);
  }
  return [`${path === "" ? "body" : path}: ${issue.message}`];
}
const KINDS = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  record: "an object"
};
function describe(issue) {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === void 0) return "is required";
      return `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.map(String).join(", ")}`;
    case "too_small":
      if (issue.origin === "string")
        return `must have at least ${issue.minimum} character${issue.minimum === 1 ? "" : "s"}`;
      return issue.origin === "array" ? `must have at least ${issue.minimum} items` : `must be at least ${issue.minimum}`;
    case "too_big":
      if (issue.origin === "string") return `must have at most ${issue.maximum} characters`;
      return issue.origin === "array" ? `must have at most ${issue.maximum} items` : `must be at most ${issue.maximum}`;
    default:
      return void 0;
  }
}

export { validate as v };

import { z } from 'zod';
import { Q as QueryBoolean, I as InEnvironment } from './query.mjs';
import { M as MAX_VALUE_BYTES, b as MAX_KEY_CHARACTERS, K as KEY_PATTERN, c as MAX_VARIABLES, l as listFault } from './rules.mjs';

const KEY_FORM = { pattern: KEY_PATTERN.source, maxLength: MAX_KEY_CHARACTERS };
const VALUE_FORM = { description: "At most 64 KiB in UTF-8", maxLength: MAX_VALUE_BYTES };
const EnvVar = z.strictObject({
  key: z.string().meta({ ...KEY_FORM, examples: ["LOG_LEVEL"] }),
  value: z.string().meta({ ...VALUE_FORM, examples: ["info"] })
}).meta({ id: "EnvVar" });
const EnvVars = z.array(EnvVar).superRefine(judgeList).meta({ maxItems: MAX_VARIABLES });
const EnvReplacement = z.strictObject({ vars: EnvVars }).meta({ id: "EnvReplacement" });
const Changes = z.union(
  [z.array(EnvVar), z.record(z.string().meta(KEY_FORM), z.string().meta(VALUE_FORM))],
  "must be an array of {key, value} or an object of strings"
).default([]).transform(
  (set) => Array.isArray(set) ? set : Object.entries(set).map(([key, value]) => ({ key, value }))
).superRefine(judgeList).meta({ examples: [[{ key: "LOG_LEVEL", value: "debug" }]] });
const EnvPatch = z.strictObject({
  set: Changes,
  unset: z.array(z.string()).default([]).meta({ examples: [["OLD_KEY"]] })
}).superRefine(({ set, unset }, context) => {
  const away = new Set(unset);
  const both = set.find(({ key }) => away.has(key));
  if (both) context.addIssue({ code: "custom", path: ["set"], message: `${both.key} is also in unset` });
}).meta({ id: "EnvPatch" });
const EnvQuery = z.strictObject({ ...InEnvironment.shape, restart: QueryBoolean });
function judgeList(variables, context) {
  const fault = listFault(variables);
  if (fault) context.addIssue({ code: "custom", ...fault });
}

export { EnvVars as E, EnvPatch as a, EnvVar as b, EnvReplacement as c, EnvQuery as d };

import { z } from 'zod';

const TRUE = ["true", "1", "yes", "on", "y", ""];
const FALSE = ["false", "0", "no", "off", "n"];
const QueryBoolean = z.string().optional().transform((text, context) => {
  if (text === void 0 || FALSE.includes(text.toLowerCase())) return false;
  if (TRUE.includes(text.toLowerCase())) return true;
  context.issues.push({
    code: "custom",
    input: text,
    message: "must be true, 1, yes, on, y, false, 0, no, off or n"
  });
  return z.NEVER;
}).meta({ override: { type: "boolean", default: false } });
const InEnvironment = z.strictObject({
  environment: z.string().min(1).optional().meta({ description: "Id or name of the environment; production when absent", examples: ["production"] })
});
function clampedLimit(fallback, maximum) {
  return z.string().regex(/^-?\d+$/, "must be a whole number").optional().transform((text) => text === void 0 ? fallback : Math.min(maximum, Math.max(1, Number(text)))).meta({
    description: `How many entries at most, newest first; clamped to 1..${maximum}`,
    override: { type: "integer", default: fallback }
  });
}
const ListLimit = clampedLimit(20, 500);
const MAX_TAIL = 999999999;
function LogTail(fallback) {
  return z.string().regex(/^\d+$/, "must be a whole number, 0 or more").optional().transform((text) => text === void 0 ? fallback : Math.min(MAX_TAIL, Number(text))).meta({ override: { type: "integer", minimum: 0, default: fallback } });
}

export { InEnvironment as I, LogTail as L, QueryBoolean as Q, ListLimit as a, clampedLimit as c };

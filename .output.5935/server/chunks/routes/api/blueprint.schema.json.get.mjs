import { z } from 'zod';
import { t as tidy } from '../../_/schemas.mjs';
import { B as Blueprint } from '../../_/schema9.mjs';
import { d as defineEndpoint } from '../../_/endpoint.mjs';
import '../../_/schema.mjs';
import '../../_/cron.mjs';
import '../../nitro/nitro.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:util';
import 'node:net';
import '../../_/kinds.mjs';
import '../../_/states3.mjs';
import '../../_/machine.mjs';
import '../../_/schema6.mjs';
import '../../_/refs.mjs';
import '../../_/query.mjs';
import '../../_/states.mjs';
import '../../_/input2.mjs';
import '../../_/schema2.mjs';
import '../../_/schema3.mjs';
import '../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../_/bare-host.mjs';
import '../../_/input.mjs';
import '../../_/addresses.mjs';
import 'node:os';
import '../../_/judged.mjs';
import 'node:dns';
import '../../_/url.mjs';
import '../../_/schema4.mjs';
import '../../_/rules.mjs';
import '../../_/references.mjs';
import '../../_/rules2.mjs';
import '../../_/schema5.mjs';
import '../../_/schema7.mjs';
import '../../_/states2.mjs';
import '../../_/types.mjs';
import '../../_/watch-paths.mjs';
import 'node:stream';
import 'node:timers/promises';
import '../../_/send.mjs';
import '../../_/compression.mjs';
import 'node:zlib';
import '../../_/validate.mjs';

let made;
function blueprintSchema() {
  made ??= z.toJSONSchema(Blueprint, {
    io: "input",
    target: "draft-7",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema, path }) => {
      tidy(zodSchema, jsonSchema);
      liftNull(jsonSchema);
      if (path.at(-1) === "version") jsonSchema.type = ["string", "number", "null"];
    }
  });
  return made;
}
function liftNull(json) {
  const choices = json.anyOf;
  const [value, nothing] = choices ?? [];
  if (choices?.length !== 2 || nothing?.type !== "null" || typeof value?.type !== "string") return;
  delete json.anyOf;
  const { enum: values } = value;
  Object.assign(json, { ...value, ...json, type: [value.type, "null"] });
  if (Array.isArray(values)) json.enum = [...values, null];
}

const JsonSchema = z.looseObject({ $schema: z.string().meta({ examples: ["http://json-schema.org/draft-07/schema#"] }) }).meta({ id: "JsonSchema", description: "A JSON Schema" });
const endpoint0 = defineEndpoint({
  summary: "Read the JSON Schema of blueprints",
  description: "Of the native dialect, for editors: `# yaml-language-server: $schema=<this address>`.",
  auth: "none",
  response: JsonSchema,
  keptFrom: "program",
  handler: () => JsonSchema.parse(blueprintSchema())
});

export { endpoint0 as default };

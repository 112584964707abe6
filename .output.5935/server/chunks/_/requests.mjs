import { z } from 'zod';
import { D as DEPLOYABLE_URL } from './input.mjs';
import { c as branchNameFault } from './refs.mjs';
import { Q as QueryBoolean } from './query.mjs';
import { Z as judged } from '../nitro/nitro.mjs';

const EnvironmentRef = z.string().min(1).optional().meta({ description: "Id or name; where what names no environment belongs", examples: ["production"] });
const Branch = judged(branchNameFault).meta({ examples: ["main"] });
const BlueprintInput = z.strictObject({
  yaml: z.string().meta({ examples: ["datastores:\n  - name: db\n    kind: relational\n"] }),
  dry_run: z.boolean().default(false).meta({ description: "Only tells what it would do", examples: [true] }),
  environment: EnvironmentRef,
  repo_url: DEPLOYABLE_URL.optional().meta({
    description: "The repository that the file is of, and with it those services of a render.yaml that name none"
  }),
  branch: Branch.optional()
}).meta({ id: "BlueprintInput" });
const BlueprintQuery = z.strictObject({ dry_run: QueryBoolean, environment: EnvironmentRef });
const ConvertInput = z.strictObject({ compose: z.string().meta({ examples: ["services:\n  web:\n    image: nginx\n"] }) }).meta({ id: "BlueprintConvertInput" });
const ConvertResult = z.object({
  yaml: z.string().meta({ examples: ["services:\n  - name: web\n    image: nginx\n"] }),
  warnings: z.array(z.string()).meta({ examples: [["line 4: services.web.ports[0]: ..."]] })
}).meta({ id: "BlueprintConvertResult" });
const ExportQuery = z.strictObject({
  environment: EnvironmentRef,
  secrets: z.enum(["omit", "include"]).default("omit").meta({ description: "Whether values that look like secrets are written out", examples: ["omit"] })
});
const YAML_TYPES = /^(?:application|text)\/(?:x-)?yaml\b/i;
function isYaml(contentType) {
  return YAML_TYPES.test(contentType ?? "");
}

export { Branch as B, ConvertResult as C, ExportQuery as E, BlueprintInput as a, BlueprintQuery as b, ConvertInput as c, isYaml as i };

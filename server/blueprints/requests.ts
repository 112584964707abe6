import { z } from 'zod'
import { DEPLOYABLE_URL } from '../git/input.ts'
import { branchNameFault } from '../git/refs.ts'
import { QueryBoolean } from '../http/query.ts'
import { judged } from '../schema.ts'

const EnvironmentRef = z
  .string()
  .min(1)
  .optional()
  .meta({
    description: 'Id or name; used if the file does not name an environment',
    examples: ['production'],
  })

export const Branch = judged(branchNameFault).meta({ examples: ['main'] })

export const BlueprintInput = z
  .strictObject({
    yaml: z.string().meta({ examples: ['datastores:\n  - name: db\n    kind: relational\n'] }),
    dry_run: z
      .boolean()
      .default(false)
      .meta({ description: 'Only report what would be done', examples: [true] }),
    environment: EnvironmentRef,
    repo_url: DEPLOYABLE_URL.optional().meta({
      description: 'The repository that contains the file; services of a render.yaml that name none use it',
    }),
    branch: Branch.optional(),
  })
  .meta({ id: 'BlueprintInput' })
export type BlueprintInput = z.infer<typeof BlueprintInput>

export const BlueprintQuery = z.strictObject({ dry_run: QueryBoolean, environment: EnvironmentRef })

export const ConvertInput = z
  .strictObject({ compose: z.string().meta({ examples: ['services:\n  web:\n    image: nginx\n'] }) })
  .meta({ id: 'BlueprintConvertInput' })

export const ConvertResult = z
  .object({
    yaml: z.string().meta({ examples: ['services:\n  - name: web\n    image: nginx\n'] }),
    warnings: z.array(z.string()).meta({ examples: [['line 4: services.web.ports[0]: ...']] }),
  })
  .meta({ id: 'BlueprintConvertResult' })

export const ExportQuery = z.strictObject({
  environment: EnvironmentRef,
  secrets: z
    .enum(['omit', 'include'])
    .default('omit')
    .meta({ description: 'Whether to include values that look like secrets', examples: ['omit'] }),
  keys_only: QueryBoolean.describe('Leaves out the values of all variables: each is `sync: false`'),
})

/** Content types of a body that is the YAML file itself. */
const YAML_TYPES = /^(?:application|text)\/(?:x-)?yaml\b/i

/** Whether a body is the YAML file itself, not JSON that contains it. */
export function isYaml(contentType: string | undefined): boolean {
  return YAML_TYPES.test(contentType ?? '')
}

import { isSchema, type AnyEndpointSpec } from '../http/endpoint.ts'
import { exampleOf } from './examples.ts'
import type { Json, SchemaCollector } from './schemas.ts'

/** The parameters of an operation: those in its path, then those of its query. */
export function parametersOf(path: string, spec: AnyEndpointSpec, collector: SchemaCollector): Json[] {
  return [...pathParameters(path, spec, collector), ...queryParameters(spec, collector)]
}

function pathParameters(path: string, spec: AnyEndpointSpec, collector: SchemaCollector): Json[] {
  const fields = isSchema(spec.params) ? fieldsOf(collector.convert(spec.params, 'input'), collector) : {}
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) =>
    parameter('path', name!, fields[name!] ?? { type: 'string' }, true, collector),
  )
}

function queryParameters(spec: AnyEndpointSpec, collector: SchemaCollector): Json[] {
  if (!isSchema(spec.query)) return []
  const schema = collector.convert(spec.query, 'input')
  const required = (collector.resolve(schema).required ?? []) as string[]
  return Object.entries(fieldsOf(schema, collector)).map(([name, field]) =>
    parameter('query', name, field, required.includes(name), collector),
  )
}

function parameter(
  place: 'path' | 'query',
  name: string,
  field: Json,
  required: boolean,
  collector: SchemaCollector,
): Json {
  const { description = PARAMETERS[name], examples: _, ...schema } = field
  return {
    name,
    in: place,
    required,
    ...(description ? { description } : {}),
    schema,
    example: exampleOf(field, collector),
  }
}

/** Descriptions of parameters by name; a schema's own description wins. */
const PARAMETERS: Record<string, string> = {
  id: 'Id of the resource',
  deploy_id: 'Id of the deploy',
  job_id: 'Id of the job run',
  environment: 'Id or name of the environment; production when absent',
  follow: 'Continue with new lines as they are written',
  tail: 'How many of the newest lines to send first',
  force: 'Do it even when others refer to it',
  restart: 'Restart the live services whose variables changed',
  clear_cache: 'Build without cache',
  service_id: 'Id of the service',
  key: "The service's deploy hook key",
  repo_url: 'Address of a repository that a service can be deployed from',
  level: 'The minimum level of the lines',
  dry_run: 'Only report what would be done',
  branch: "Branch of the repository; the remote's default branch when absent",
}

function fieldsOf(schema: Json, collector: SchemaCollector): Record<string, Json> {
  return (collector.resolve(schema).properties ?? {}) as Record<string, Json>
}

import { z } from 'zod'

const Source = z.string().meta({ examples: ['203.0.113.7'] })

const IpAllowList = z
  .array(
    z.object({
      source: Source,
      description: z
        .string()
        .nullable()
        .meta({ examples: ['office'] }),
    }),
  )
  .nullable()
  .meta({ description: 'Who may use the service; null is everyone, an empty list nobody' })

const BasicAuth = z
  .object({
    users: z.array(
      z.object({
        username: z.string().meta({ examples: ['ada'] }),
        password: z.null().meta({ description: 'Never shown; null in a change keeps it', examples: [null] }),
      }),
    ),
    except_paths: z.array(z.string()).meta({ examples: [['/webhooks/*']] }),
  })
  .nullable()
  .meta({ description: 'Who gets in with a password, and which paths need none' })

/** What a service asks for its requests, as the API returns it. */
export const edgeFields = {
  ip_allow_list: IpAllowList,
  redirects: z
    .array(
      z.object({
        from: z.string().meta({ examples: ['/blog/*'] }),
        to: z.string().meta({ examples: ['https://blog.example.com/:splat'] }),
        status: z.int().meta({ examples: [308] }),
      }),
    )
    .nullable(),
  maintenance: z
    .object({
      enabled: z.boolean().meta({ examples: [false] }),
      message: z
        .string()
        .nullable()
        .meta({ examples: ['Back at noon'] }),
      page: z
        .string()
        .nullable()
        .meta({ description: 'HTML instead of the page with the message', examples: [null] }),
      retry_after_seconds: z.int().meta({ examples: [60] }),
      allow_ips: z.array(Source),
    })
    .nullable(),
  rate_limit: z
    .object({
      requests: z.int().meta({ examples: [300] }),
      period_seconds: z.int().meta({ examples: [60] }),
      burst: z.int().meta({ examples: [50] }),
    })
    .nullable(),
  basic_auth: BasicAuth,
  headers: z
    .array(
      z.object({
        path: z.string().meta({ examples: ['/*'] }),
        name: z.string().meta({ examples: ['X-Frame-Options'] }),
        value: z
          .string()
          .nullable()
          .meta({ description: 'Null removes the header', examples: ['DENY'] }),
      }),
    )
    .nullable(),
  session_affinity: z.boolean().meta({ examples: [false] }),
  upstream_timeout_seconds: z
    .int()
    .nullable()
    .meta({ description: "Null is the server's", examples: [null] }),
  max_body_mb: z
    .int()
    .nullable()
    .meta({ description: 'Null is no limit', examples: [null] }),
  access_log: z.boolean().meta({ examples: [false] }),
}

const Edge = z.object(edgeFields)
export type Edge = z.infer<typeof Edge>

export const EdgeDefaults = z
  .object({ basic_auth: BasicAuth, ip_allow_list: IpAllowList })
  .meta({ id: 'EdgeDefaults', description: 'What holds for its services that have none of their own' })
export type EdgeDefaults = z.infer<typeof EdgeDefaults>

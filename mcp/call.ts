import { z } from 'zod'

/** An answer of the API: parsed JSON, a text, or the pieces of an event stream as they come. */
export interface Answer {
  status: number
  body: unknown
}

export interface CallOptions {
  query?: Record<string, string | number | undefined>
  /** Sent as JSON. */
  body?: unknown
  signal?: AbortSignal
}

/**
 * Sends one request to the API; `path` is below `/api/v1`. It resolves to any answer, also to a refusal, and throws only when
 * there is none.
 */
export type Call = (method: string, path: string, options?: CallOptions) => Promise<Answer>

/** Why a tool could not do what it was asked for, as `code: message`. */
export class ToolFault extends Error {
  override readonly name = 'ToolFault'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

const Refusal = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    details: z
      .array(z.object({ line: z.number(), column: z.number(), path: z.string(), message: z.string() }))
      .optional(),
  }),
})

/** A name or an id as a part of a path. `.` and `..` would lead to another path, and nothing is called so. */
export function segment(name: string): string {
  if (['', '.', '..'].includes(name)) throw new ToolFault('not_found', `there is nothing called ${name}`)
  return encodeURIComponent(name)
}

/** Reads from the API what fits `schema`. Throws the API's refusal as a `ToolFault`. */
export async function ask<S extends z.ZodType>(
  call: Call,
  schema: S,
  method: string,
  path: string,
  options?: CallOptions,
): Promise<z.output<S>> {
  const { body } = await accepted(call, method, path, options)
  const read = schema.safeParse(body)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new ToolFault(
    'unexpected_answer',
    `${method} ${path} answered something else than expected (${issue?.path.join('.')}: ${issue?.message}): are the command line and the server of the same version?`,
  )
}

/** Sends a request and returns its answer. Throws the API's refusal as a `ToolFault`. */
export async function accepted(
  call: Call,
  method: string,
  path: string,
  options?: CallOptions,
): Promise<Answer> {
  const answer = await call(method, path, options)
  if (answer.status < 400) return answer
  const refusal = Refusal.safeParse(answer.body)
  if (!refusal.success)
    throw new ToolFault('unexpected_answer', `${method} ${path} answered ${answer.status}`)
  const { code, message, details } = refusal.data.error
  const lines = details?.map((at) => `${at.line}:${at.column}: ${at.path}: ${at.message}`)
  throw new ToolFault(code, lines?.length ? lines.join('\n') : message)
}

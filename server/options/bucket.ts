import { AppError, messageOf } from '../errors.ts'
import { bad } from './flags.ts'

/** A place in a bucket of an S3-compatible store, and the keys to write there. */
export interface BucketOptions {
  /** `https://endpoint/bucket` or longer, without a slash at the end; only characters that need no escaping. */
  url: string
  accessKeyId: string
  secretAccessKey: string
  /** Null to derive it from the endpoint's name. */
  region: string | null
  /** Reads the keys again, when at least one is in a file. Throws `invalid_request`. */
  readKeys?: () => { accessKeyId: string | null; secretAccessKey: string | null }
}

/** The values of the bucket's flags. */
type BucketFlags = { [K in Exclude<keyof BucketOptions, 'readKeys'>]: string | null } & Pick<
  BucketOptions,
  'readKeys'
>

/** Returns the bucket that backups are copied to, or null. Throws `invalid_request`, which never repeats the secret. */
export function readBucket({
  url,
  accessKeyId,
  secretAccessKey,
  region,
  ...rest
}: BucketFlags): BucketOptions | null {
  if (url === null && accessKeyId === null && secretAccessKey === null && region === null) return null
  if (url === null || accessKeyId === null || secretAccessKey === null)
    throw new AppError(
      'invalid_request',
      '--backup-s3-url, --backup-s3-key and --backup-s3-secret-file (DEPLOYER_BACKUP_S3_URL, DEPLOYER_BACKUP_S3_KEY, DEPLOYER_BACKUP_S3_SECRET_FILE) go together',
    )
  if (region !== null && !/^[A-Za-z0-9-]{1,64}$/.test(region))
    throw bad('backup-s3-region', 'the name of a region, such as eu-central-1', region)
  return { url: readUrl(url), accessKeyId, secretAccessKey, region, ...rest }
}

/** Returns the options with the keys that its files hold now, or null when they have not changed. Throws `io_error`. */
export function withCurrentKeys(options: BucketOptions): BucketOptions | null {
  const { accessKeyId, secretAccessKey } = readAgain(options)
  if (!accessKeyId || !secretAccessKey) return null
  const isSame = accessKeyId === options.accessKeyId && secretAccessKey === options.secretAccessKey
  return isSame ? null : { ...options, accessKeyId, secretAccessKey }
}

function readAgain({ url, readKeys }: BucketOptions): Partial<ReturnType<NonNullable<typeof readKeys>>> {
  try {
    return readKeys?.() ?? {}
  } catch (cause) {
    throw new AppError(
      'io_error',
      `the bucket ${url} refused the keys, and their files could not be read again: ${messageOf(cause)}`,
      { cause },
    )
  }
}

function readUrl(value: string): string {
  const url = URL.parse(value)
  const isPlain = url !== null && url.username === '' && url.password === '' && !/[?#]/.test(value)
  const path = url?.pathname.replace(/\/$/, '') ?? ''
  if (!isPlain || !/^https?:$/.test(url.protocol) || !/^(\/[A-Za-z0-9._-]+)+$/.test(path))
    throw bad(
      'backup-s3-url',
      'such as https://s3.example.com/bucket/prefix, without credentials',
      isPlain ? value : '...',
    )
  return url.origin + path
}

import { AppError } from '../errors.ts'
import { bad } from '../flags.ts'

/** A place in a bucket of an S3-compatible store, and who may write there. */
export interface BucketOptions {
  /** `https://endpoint/bucket` or longer, without a slash at the end; of characters that need no escape. */
  url: string
  accessKeyId: string
  secretAccessKey: string
  /** Null for the one that the endpoint's name tells. */
  region: string | null
}

/** What the flags of a bucket give, each of them or none. */
type Given = { [K in keyof BucketOptions]: string | null }

/** The bucket that backups are copied to, or null. Throws `invalid_request`, which never repeats the secret. */
export function readBucket({ url, accessKeyId, secretAccessKey, region }: Given): BucketOptions | null {
  if (url === null && accessKeyId === null && secretAccessKey === null && region === null) return null
  if (url === null || accessKeyId === null || secretAccessKey === null)
    throw new AppError(
      'invalid_request',
      '--backup-s3-url, --backup-s3-key and --backup-s3-secret-file (DEPLOYER_BACKUP_S3_URL, DEPLOYER_BACKUP_S3_KEY, DEPLOYER_BACKUP_S3_SECRET_FILE) go together',
    )
  if (!/^[!-~]{1,256}$/.test(accessKeyId))
    throw bad('backup-s3-key', '1 to 256 visible ASCII characters', accessKeyId)
  if (region !== null && !/^[A-Za-z0-9-]{1,64}$/.test(region))
    throw bad('backup-s3-region', 'the name of a region, such as eu-central-1', region)
  return { url: readUrl(url), accessKeyId, secretAccessKey, region }
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

declare module '#dashboard' {
  /** The dashboard's one page. */
  export const page: string
  /** Of the page, quoted. */
  export const etag: string
}

declare module '#dashboard-assets' {
  export interface Asset {
    type: string
    /** Of a compressed copy. */
    encoding?: string | null
    /** Of these bytes, quoted. */
    etag: string
    size: number
    /** From the folder of the server's program. */
    path: string
  }

  /** The files of the page and their compressed copies, by path. */
  const assets: Record<string, Asset>
  export default assets
}

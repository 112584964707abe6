declare module '#dashboard' {
  /** The HTML of the dashboard, which has one page. */
  export const page: string
  /** The entity tag of the page, with its quotes. */
  export const etag: string
}

declare module '#dashboard-assets' {
  export interface Asset {
    type: string
    /** Set for a compressed copy. */
    encoding?: string | null
    /** The entity tag of these bytes, with its quotes. */
    etag: string
    size: number
    /** Relative to the folder of the server's program. */
    path: string
  }

  /** The files of the page and their compressed copies, by path. */
  const assets: Record<string, Asset>
  export default assets
}

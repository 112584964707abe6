declare module '#dashboard' {
  /** The dashboard's one page. */
  export const page: string
  /** Of the page, quoted. */
  export const etag: string
}

declare module '#dashboard-assets' {
  /** The files of the page and their compressed copies, by path. */
  const assets: Record<
    string,
    {
      type: string
      /** Of these bytes, quoted. */
      etag: string
      size: number
      /** From the folder of the server's program. */
      path: string
    }
  >
  export default assets
}

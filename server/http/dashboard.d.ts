declare module '#dashboard' {
  /** The dashboard's one page. */
  export const page: string
  /** Of the page, quoted. */
  export const etag: string
}

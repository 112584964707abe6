/** Every route with its method and handler; modules/endpoints.ts makes it at build time. */
declare module '#endpoints' {
  export const endpoints: import('./document.ts').ListedEndpoint[]
}

/** The text of a file, put into the build by Nitro. */
declare module 'raw:*' {
  const text: string
  export default text
}

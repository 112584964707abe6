/**
 * A name of an image as this server records it. Docker leaves out its own registry; Podman includes it, or localhost for
 * images that were built there.
 */
export function shortName(name: string): string {
  return name.replace(/^(?:docker\.io\/(?:library\/)?|localhost\/)/, '')
}

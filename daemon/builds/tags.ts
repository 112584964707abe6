/** The repository of a service's images in the engine; ids, since names belong to people. */
export function imageRepository(serviceId: string): string {
  return `deployer/${serviceId}`
}

/** The tag that keeps the image of one deploy. */
export function imageTag(serviceId: string, deployId: string): string {
  return `${imageRepository(serviceId)}:${deployId}`
}

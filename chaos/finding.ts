/** Something that contradicts what the server promises. */
export class Finding extends Error {}

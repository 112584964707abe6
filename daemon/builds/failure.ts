/** A fault in the user's source that ends a deploy as `build_failed`; `message` says what to change and is shown as is. */
export class BuildFailure extends Error {
  override readonly name = 'BuildFailure'
}

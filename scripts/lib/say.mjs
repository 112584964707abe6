/**
 * Prints one line for the user. It goes to standard error, because standard output belongs to the program that is started.
 *
 * @param {string} text
 */
export function say(text) {
  process.stderr.write(`deployer: ${text}\n`)
}

/** An error that ends a command; its message is all that the reader needs. */
export class Refusal extends Error {}

/**
 * Runs a command's main function; a `Refusal` ends it with one line and exit code 1.
 *
 * @param {() => Promise<void>} main
 */
export function run(main) {
  main().catch((error) => {
    say(error instanceof Refusal ? error.message : String(error?.stack ?? error))
    process.exit(1)
  })
}

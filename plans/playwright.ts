/** A folder that every user can read; the default is in the home of the user who installed it. */
const BROWSERS = '/opt/playwright'

/**
 * Returns the lines of the final stage that install Chromium and its libraries: each release of Playwright works only with
 * its own build of a browser (playwright.dev, "Browsers"). They come before the code, so that a change of the code does not
 * fetch it again.
 */
export function installBrowser(program: string): string[] {
  return [
    `ENV PLAYWRIGHT_BROWSERS_PATH=${BROWSERS}`,
    `RUN ${program} install --with-deps chromium && rm -rf /var/lib/apt/lists/*`,
  ]
}

import type { Choices } from '../choices.ts'
import type { Place } from '../place.ts'
import type { PlanSettings } from '../plan.ts'
import { baseImage, installPackages, lastStage, takeApp } from '../steps.ts'

/** Where the one jar that a build produces is placed. */
export const JAR = '/app/server.jar'

/** Starts that jar; Spring reads the port from the property, other programs from PORT. */
export const START_JAR = `java -Dserver.port=$PORT -jar ${JAR}`

/** Jars that build tools leave next to the executable one: plain jars, sources, documentation. */
const OTHER_JARS = '-(plain|sources|javadoc|tests)[.]jar$|original-'

/**
 * Returns the command that takes the largest jar of a build, from later places only if the first ones have none, and reports
 * when there is none at all.
 */
export function takeJar(places: string, others: string | null = null): string {
  const list = `ls -S ${places} 2>/dev/null`
  const listed = others === null ? list : `{ ${list}; ls -S ${others} 2>/dev/null; }`
  return `jar=$(${listed} | grep -Ev -- "${OTHER_JARS}" | head -n 1) && if [ -z "$jar" ]; then echo "the build left no jar in ${places}" >&2; exit 1; fi && cp "$jar" ${JAR}`
}

/** Returns the last stage of a build for the JVM. */
export function jvmStage(
  settings: PlanSettings,
  major: number,
  { facts, aptPackages }: Choices,
  { directory }: Place,
): string[] {
  return lastStage(facts, {
    image: baseImage(settings, `eclipse-temurin:${major}-jre`),
    packages: aptPackages,
    workdir: directory,
    content: [takeApp()],
  })
}

/** Programs that wrappers and builds use besides the compiler; the Java image has fewer than others. */
export function jvmTools(packages: readonly string[]): string[] {
  return installPackages(['git', 'curl', 'unzip', ...packages])
}

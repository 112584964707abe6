import type { Choices } from '../choices.ts'
import type { PlanSettings } from '../plan.ts'
import { baseImage, installPackages, lastStage, takeApp } from '../steps.ts'

/** Where the one jar lies that a build leaves. */
export const JAR = '/app/server.jar'

/** Starts that jar; Spring reads the port from the property, others from PORT. */
export const START_JAR = `java -Dserver.port=$PORT -jar ${JAR}`

/** Jars that build tools leave beside the one that runs: plain ones, sources, documentation. */
const OTHER_JARS = '-(plain|sources|javadoc|tests)[.]jar$|original-'

/**
 * The command that takes the largest of the jars that a build left, of other places where there is none in the first ones,
 * and says so when it left none.
 */
export function takeJar(places: string, others: string | null = null): string {
  const list = `ls -S ${places} 2>/dev/null`
  const listed = others === null ? list : `{ ${list}; ls -S ${others} 2>/dev/null; }`
  return `jar=$(${listed} | grep -Ev -- "${OTHER_JARS}" | head -n 1) && if [ -z "$jar" ]; then echo "the build left no jar in ${places}" >&2; exit 1; fi && cp "$jar" ${JAR}`
}

/** The last stage of a build for the Java platform. */
export function jvmStage(settings: PlanSettings, major: number, { facts, aptPackages }: Choices): string[] {
  return lastStage(facts, {
    image: baseImage(settings, `eclipse-temurin:${major}-jre`),
    packages: aptPackages,
    content: [takeApp()],
  })
}

/** What wrappers and builds use beside the compiler; its image has less than others. */
export function jvmTools(packages: readonly string[]): string[] {
  return installPackages(['git', 'curl', 'unzip', ...packages])
}

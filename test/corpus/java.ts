import { expect } from 'vitest'
import { containing, noted, type CorpusTree } from './tree.ts'

const gradle = (version: string) => ({
  'build.gradle': "plugins { id 'org.springframework.boot' version '2.7.18' }\n",
  gradlew: '',
  'gradle/wrapper/gradle-wrapper.properties': `distributionUrl=https\\://services.gradle.org/distributions/gradle-${version}-bin.zip\n`,
})

const GRADLE = {
  gradlew: '',
  'gradle/wrapper/gradle-wrapper.properties':
    'distributionUrl=https\\://services.gradle.org/distributions/gradle-8.14-bin.zip\n',
}

const POM = '<project><parent><artifactId>spring-boot-starter-parent</artifactId></parent>'

const BOOT =
  '<build><plugins><plugin><artifactId>spring-boot-maven-plugin</artifactId></plugin></plugins></build>'

const SHOP = {
  'pom.xml': `${POM}<artifactId>shop</artifactId><packaging>pom</packaging><modules><module>common</module><module>catalog</module><module>services/orders</module></modules></project>`,
  'common/pom.xml': '<project><artifactId>common</artifactId></project>',
  'catalog/pom.xml': `<project>${BOOT}</project>`,
  'services/orders/pom.xml': `<project><parent><artifactId>shop</artifactId></parent>${BOOT}</project>`,
}

const GRADLE_SHOP = {
  'settings.gradle':
    "rootProject.name = 'shop'\ninclude 'common',\n  ':catalog'\ninclude(':services:orders')\n",
  'build.gradle': "plugins { id 'org.springframework.boot' version '3.4.0' apply false }\n",
  'common/build.gradle': "plugins { id 'java-library' }\n",
  'catalog/build.gradle': "plugins { id 'org.springframework.boot' }\n",
  'services/orders/build.gradle': "plugins { id 'org.springframework.boot' }\n",
}

const PARENT = '<parent><artifactId>spring-boot-starter-parent</artifactId></parent>'

const plugin = (more = ''): string =>
  `<build><plugins><plugin><artifactId>spring-boot-maven-plugin</artifactId>${more}</plugin></plugins></build>`

const modules = (...names: string[]): string =>
  `<artifactId>shop</artifactId><modules>${names.map((name) => `<module>${name}</module>`).join('')}</modules>`

const OF_SHOP = '<parent><artifactId>shop</artifactId></parent>'

const API = {
  'pom.xml': `<project>${PARENT}${modules('api')}</project>`,
  'api/pom.xml': `<project>${OF_SHOP}${plugin()}</project>`,
}

/** The largest jar that any module leaves, as if the modules were not inspected. */
const ANY_JAR = 'ls -S target/*.jar target/*.war target/quarkus-app/*.jar */target/*.jar'

const BOOT_PLUGIN = "plugins { id 'org.springframework.boot' version '3.4.0' }\n"
const ALONE = `${BOOT_PLUGIN}repositories { mavenCentral() }\n`

/** A Gradle library that switches its program off, in different spellings. */
const SWITCHED_OFF: [file: string, text: string][] = [
  ['core/build.gradle', 'bootJar {\n  enabled = false\n}\njar { enabled = true }\n'],
  ['core/build.gradle', "tasks.named('bootJar') {\n  enabled = false\n}\n"],
  ['core/build.gradle.kts', 'tasks.getByName<BootJar>("bootJar") { enabled = false }\n'],
  ['core/build.gradle.kts', 'tasks.named<BootJar>("bootJar") {\n    enabled = false\n}\n'],
  ['core/build.gradle.kts', 'tasks.bootJar { isEnabled = false }\n'],
]

/** Programs of Java and of other languages of its virtual machine. */
export const JAVA: CorpusTree[] = [
  {
    title: 'Spring Boot with the Maven wrapper',
    files: {
      'pom.xml': '<parent>spring-boot-starter-parent</parent><java.version>17</java.version>',
      mvnw: '',
    },
    plan: {
      runtime: 'java',
      version: '17',
      framework: 'spring-boot',
      packageManager: 'maven',
      buildCommand: 'sh ./mvnw -B -ntp -DskipTests package',
      startCommand: 'java -Dserver.port=$PORT -jar /app/server.jar',
    },
    dockerfile: [
      'FROM eclipse-temurin:17-jdk AS build',
      'FROM eclipse-temurin:17-jre',
      'target=/root/.m2',
      'target=/app/target',
    ],
  },
  {
    title: 'Gradle in Kotlin',
    files: {
      'build.gradle.kts': 'plugins { id("org.springframework.boot") }\nkotlin { jvmToolchain(21) }\n',
    },
    plan: {
      runtime: 'java',
      version: '21',
      packageManager: 'gradle',
      buildCommand: 'gradle --no-daemon build -x test',
    },
    dockerfile: ['FROM gradle:8-jdk21 AS build', 'target=/root/.gradle'],
  },
  {
    title: 'Gradle whose program lies in a folder',
    files: { 'settings.gradle.kts': '', gradlew: '', 'app/build.gradle.kts': '' },
    plan: { runtime: 'java', packageManager: 'gradle' },
  },
  {
    title: 'Java with a Procfile that names the jar',
    files: {
      'pom.xml': '',
      'system.properties': 'java.runtime.version=11\n',
      Procfile: 'web: java -jar target/shop-1.0.jar --port $PORT\n',
    },
    plan: { runtime: 'java', version: '11', startCommand: 'java -jar target/shop-1.0.jar --port $PORT' },
    without: ['target=/app/target'],
  },
  {
    title: 'Quarkus',
    files: {
      'pom.xml': '<groupId>io.quarkus</groupId><maven.compiler.release>21</maven.compiler.release>',
      mvnw: '',
    },
    plan: {
      runtime: 'java',
      framework: 'quarkus',
      startCommand:
        'java -Dquarkus.http.host=0.0.0.0 -Dquarkus.http.port=$PORT -jar /app/quarkus-app/quarkus-run.jar',
    },
  },
  {
    title: 'Scala with Play',
    files: {
      'build.sbt': 'name := "Shop App"\n',
      'project/plugins.sbt': 'addSbtPlugin("org.playframework" % "sbt-plugin" % "3.0.6")\n',
      'project/build.properties': 'sbt.version=1.10.7\n',
      '.sdkmanrc': 'java=21.0.5-tem\n',
    },
    plan: { runtime: 'scala', framework: 'play', buildCommand: 'sbt stage', version: '21' },
    dockerfile: [
      'FROM sbtscala/scala-sbt:eclipse-temurin-21_1.x AS build',
      'target/universal/stage/bin/shop-app',
    ],
  },
  {
    title: 'Scala packed into one jar',
    files: {
      'build.sbt': '',
      'project/plugins.sbt': 'addSbtPlugin("com.eed3si9n" % "sbt-assembly" % "2.2.0")\n',
    },
    plan: {
      runtime: 'scala',
      buildCommand: 'sbt assembly',
      startCommand: 'java -Dserver.port=$PORT -jar /app/server.jar',
    },
  },
  {
    title: 'Clojure with Leiningen',
    files: { 'project.clj': '(defproject shop "0.1")' },
    plan: {
      runtime: 'clojure',
      packageManager: 'leiningen',
      buildCommand: 'lein uberjar',
      installCommand: 'lein deps',
    },
    dockerfile: ['FROM clojure:temurin-21-lein-bookworm AS build', 'lein deps'],
  },
  {
    title: 'Clojure with tools.build',
    files: { 'deps.edn': '{:aliases {:build {:ns-default build}}}', 'build.clj': '' },
    plan: {
      runtime: 'clojure',
      buildCommand: 'clojure -T:build uber',
      startCommand: 'java -Dserver.port=$PORT -jar /app/server.jar',
    },
  },
  {
    title: 'Scala whose script has a name of its own',
    files: {
      'build.sbt':
        'name := """hello world"""\n\nexecutableScriptName := "main"\n\nlazy val root = (project in file(".")).enablePlugins(PlayScala)\n',
      'project/plugins.sbt': 'addSbtPlugin("org.playframework" % "sbt-plugin" % "3.0.5")\n',
    },
    plan: { runtime: 'scala', framework: 'play', buildCommand: 'sbt stage' },
    dockerfile: ['target/universal/stage/bin/main -Dhttp.port=$PORT'],
  },
  {
    title: 'Scala without a name',
    files: {
      'build.sbt': 'lazy val shopApp = (project in file("."))\n  .enablePlugins(JavaAppPackaging)\n',
      'project/plugins.sbt': 'addSbtPlugin("com.github.sbt" % "sbt-native-packager" % "1.11.1")\n',
    },
    plan: { runtime: 'scala', startCommand: 'target/universal/stage/bin/shopapp' },
  },
  {
    title: 'Scala that nothing packs',
    files: { 'build.sbt': 'scalaVersion := "3.3.4"\n' },
    plan: {
      runtime: 'scala',
      obstacle:
        'nothing says how to start this service: build.sbt names no program: add the plugin sbt-native-packager or sbt-assembly, or a Procfile with a line "web:", or set start_command',
    },
  },
  {
    title: 'Gradle of 2022, which runs on no newer Java',
    files: gradle('7.4'),
    plan: { runtime: 'java', version: '17', framework: 'spring-boot' },
  },
  {
    title: 'Gradle of 2019',
    files: gradle('5.6.4'),
    plan: { runtime: 'java', version: '11' },
  },
  {
    title: 'Gradle that wants a newer Java than it compiles for',
    files: { ...gradle('9.0.0'), 'build.gradle': "sourceCompatibility = '11'\n" },
    plan: { runtime: 'java', version: '17' },
  },
  {
    title: 'Gradle that compiles for another Java than the usual',
    files: { ...gradle('8.13'), 'build.gradle': "sourceCompatibility = '17'\n" },
    plan: { runtime: 'java', version: '17' },
  },
  {
    title: 'Gradle as its own starter lays it out, with the Java of the folder',
    files: {
      'settings.gradle': "include('app')\n",
      gradlew: '',
      'app/build.gradle.kts': 'java { toolchain { languageVersion = JavaLanguageVersion.of(17) } }\n',
    },
    plan: { runtime: 'java', version: '17' },
  },
  {
    title: 'Maven with several modules',
    files: { 'pom.xml': '<modules><module>core</module><module>web</module></modules>', mvnw: '' },
    plan: { runtime: 'java', packageManager: 'maven' },
    dockerfile: ['*/target/*.jar'],
  },
  {
    title: 'Gradle with an older Java in a comment',
    files: { ...gradle('8.13'), 'build.gradle': "// sourceCompatibility = '11'\n" },
    plan: { runtime: 'java', version: '21' },
  },
  {
    title: "Gradle's plugin for applications",
    files: {
      'build.gradle.kts': 'plugins {\n    java\n    application\n}\n',
      ...GRADLE,
    },
    plan: {
      runtime: 'java',
      buildCommand: 'sh ./gradlew --no-daemon installDist -x test',
      startCommand: '/app/server',
    },
  },
  {
    title: "Gradle's plugin for applications beside one that packs a whole jar",
    files: {
      'build.gradle': "plugins {\n  id 'application'\n  id 'com.gradleup.shadow' version '9.0.0'\n}\n",
      ...GRADLE,
    },
    plan: { runtime: 'java', startCommand: 'java -Dserver.port=$PORT -jar /app/server.jar' },
  },
  {
    title: "Gradle with Heroku's task",
    files: {
      'build.gradle': "apply plugin: 'war'\ntask stage() {\n    dependsOn clean, war\n}\n",
      gradlew: '',
      Procfile: 'web: java -jar build/server/webapp-runner.jar build/libs/*.war\n',
    },
    plan: { runtime: 'java', buildCommand: 'sh ./gradlew --no-daemon build -x test stage' },
  },
  {
    title: 'a war for a servlet container',
    files: { 'pom.xml': '<project><packaging>war</packaging></project>' },
    plan: {
      runtime: 'java',
      startCommand: null,
      obstacle: expect.stringContaining('pom.xml builds a war, which a servlet container runs') as string,
    },
  },
  {
    title: 'a war that starts itself',
    files: { 'pom.xml': '<project><packaging>war</packaging>spring-boot-maven-plugin</project>' },
    plan: { runtime: 'java', startCommand: 'java -Dserver.port=$PORT -jar /app/server.jar', obstacle: null },
  },
  {
    title: 'a bot of Java',
    files: {
      'pom.xml':
        '<project><artifactId>bot</artifactId><dependencies>\n<artifactId>JDA</artifactId>\n</dependencies></project>',
    },
    plan: { runtime: 'java', isWorker: true },
  },
  {
    title: 'a Maven project of several programs',
    files: SHOP,
    plan: {
      runtime: 'java',
      framework: 'spring-boot',
      rootDirectories: ['catalog', 'services/orders'],
      obstacle: containing('several programs (catalog, services/orders): set root_dir to the folder of one'),
    },
  },
  {
    title: 'a module of a Maven project',
    files: SHOP,
    folder: 'services/orders',
    plan: {
      runtime: 'java',
      obstacle: null,
      buildCommand: 'mvn -B -ntp -DskipTests -pl services/orders -am package',
      startCommand: 'java -Dserver.port=$PORT -jar /app/server.jar',
    },
    dockerfile: ['services/orders/target/*.jar'],
  },
  {
    title: 'a Maven project with one program among its modules',
    files: { ...SHOP, 'services/orders/pom.xml': '<project/>', mvnw: '' },
    plan: {
      runtime: 'java',
      obstacle: null,
      buildCommand: 'sh ./mvnw -B -ntp -DskipTests package',
    },
    dockerfile: ['ls -S catalog/target/*.jar'],
  },
  {
    title: 'a Gradle project of several programs',
    files: GRADLE_SHOP,
    plan: { runtime: 'java', rootDirectories: ['catalog', 'services/orders'] },
  },
  {
    title: 'a subproject of Gradle',
    files: { ...GRADLE_SHOP, gradlew: '' },
    folder: 'services/orders',
    plan: {
      runtime: 'java',
      obstacle: null,
      buildCommand: 'sh ./gradlew --no-daemon :services:orders:build -x test',
    },
    dockerfile: ['services/orders/build/libs/*.jar'],
  },
  {
    title: 'a module of Maven whose Procfile names its own folder',
    files: { ...API, 'api/Procfile': 'web: java -Dserver.port=$PORT -jar target/api.jar\n' },
    folder: 'api',
    plan: { runtime: 'java', needsWhole: true, buildCommand: 'mvn -B -ntp -DskipTests package' },
    dockerfile: ['WORKDIR /app/api'],
  },
  {
    title: 'a module of Maven with commands of its own',
    files: API,
    folder: 'api',
    settings: { buildCommand: 'mvn package', startCommand: 'java -jar target/api.jar' },
    plan: { runtime: 'java', needsWhole: true, startCommand: 'java -jar target/api.jar' },
  },
  {
    title: 'a module of Maven that pins what the root does not',
    files: { ...API, '.java-version': '21', 'api/system.properties': 'java.runtime.version=17\n' },
    folder: 'api',
    plan: { runtime: 'java', needsWhole: true, version: '17' },
  },
  {
    title: 'a module of Maven that names no other',
    files: {
      ...API,
      'api/pom.xml': `<project>${PARENT}${plugin()}</project>`,
      'api/mvnw': '',
      'api/.java-version': '17',
    },
    folder: 'api',
    plan: {
      runtime: 'java',
      needsWhole: false,
      version: '17',
      buildCommand: 'sh ./mvnw -B -ntp -DskipTests package',
    },
  },
  {
    title: 'a subproject of Gradle with settings of its own',
    files: {
      'settings.gradle': "include ':app'\ninclude ':server'\n",
      'build.gradle': "buildscript { dependencies { classpath 'com.android.tools.build:gradle:8.0' } }\n",
      'app/build.gradle': "apply plugin: 'com.android.application'\n",
      'server/build.gradle': BOOT_PLUGIN,
      'server/settings.gradle': '',
      'server/gradlew': '',
    },
    folder: 'server',
    plan: { runtime: 'java', needsWhole: false, buildCommand: 'sh ./gradlew --no-daemon build -x test' },
  },
  {
    title: 'a subproject of Gradle that says all by itself',
    files: {
      'settings.gradle': "include 'server'\n",
      'build.gradle': '',
      'server/build.gradle': ALONE,
    },
    folder: 'server',
    plan: { runtime: 'java', needsWhole: false, buildCommand: 'gradle --no-daemon build -x test' },
  },
  ...SWITCHED_OFF.map(([file, text], index): CorpusTree => ({
    title: `a library of Gradle that makes no program (${index})`,
    files: {
      'settings.gradle': "include 'api', 'core'\n",
      'build.gradle': '',
      'api/build.gradle': `${BOOT_PLUGIN}bootJar { archiveFileName = 'a.jar' }\njar { enabled = false }\n`,
      [file]: BOOT_PLUGIN + text,
    },
    plan: { runtime: 'java', rootDirectories: [], obstacle: null },
    dockerfile: ['ls -S api/build/libs/*.jar'],
  })),
  {
    title: 'a library of Maven that runs its parent’s plugin in no phase',
    files: {
      'pom.xml': `<project>${PARENT}${modules('core', 'web')}</project>`,
      'core/pom.xml': `<project>${plugin('<executions><execution><id>repackage</id><phase>none</phase></execution></executions>')}</project>`,
      'web/pom.xml': `<project>${plugin()}</project>`,
    },
    plan: { runtime: 'java', obstacle: null },
    dockerfile: ['ls -S web/target/*.jar'],
  },
  {
    title: 'a program of Maven that is skipped by another plugin, beside a sample',
    files: {
      'pom.xml': `<project>${PARENT}${modules('app', 'sample')}</project>`,
      'app/pom.xml': `<project>${plugin('</plugin><plugin><artifactId>maven-deploy-plugin</artifactId><configuration><skip>true</skip></configuration>')}</project>`,
      'sample/pom.xml': `<project>${plugin()}</project>`,
    },
    plan: { runtime: 'java', obstacle: null },
    dockerfile: ['ls -S app/target/*.jar'],
  },
  {
    title: 'a parent among the modules of Maven that manages the plugin',
    files: {
      'pom.xml': `<project>${PARENT}${modules('parent', 'web')}</project>`,
      'parent/pom.xml': `<project><packaging>pom</packaging><build><pluginManagement>${plugin()}</pluginManagement></build></project>`,
      'web/pom.xml': `<project>${plugin()}</project>`,
    },
    plan: { runtime: 'java', obstacle: null },
    dockerfile: ['ls -S web/target/*.jar'],
  },
  {
    title: 'modules of Maven that inherit the plugin, libraries among them',
    files: {
      'pom.xml': `<project>${PARENT}${plugin()}${modules('one', 'library')}</project>`,
      'one/pom.xml': '<project/>',
      'one/src/main/resources/application.yml': '',
      'library/pom.xml': '<project/>',
      'library/src/main/resources/application.yml': '',
    },
    plan: { runtime: 'java', obstacle: null, notes: noted('the largest jar of the build is used') },
    dockerfile: [ANY_JAR],
  },
  {
    title: 'modules of an aggregator that has the plugin',
    files: {
      'pom.xml': `<project>${modules('backend', 'tools')}</project>`,
      'backend/pom.xml': `<project><packaging>pom</packaging>${plugin()}<modules><module>web</module></modules></project>`,
      'backend/web/pom.xml': '<project/>',
      'tools/pom.xml': `<project>${plugin()}</project>`,
    },
    plan: { runtime: 'java', obstacle: null },
    dockerfile: [ANY_JAR],
  },
  {
    title: 'modules of Gradle with a plugin that nobody knows here',
    files: {
      'settings.gradle': "include 'api', 'tools'\n",
      'build.gradle': '',
      'api/build.gradle': "plugins { id 'shop.service' }\n",
      'tools/build.gradle': BOOT_PLUGIN,
    },
    plan: { runtime: 'java', obstacle: null },
    dockerfile: ['ls -S build/libs/*.jar'],
  },
  {
    title: 'programs of Gradle, one by the bare name of its plugin',
    files: {
      'settings.gradle.kts': 'include("server", "worker")\n',
      'server/build.gradle.kts': 'plugins {\n  application\n}\n',
      'worker/build.gradle.kts': 'plugins {\n  id("application")\n}\n',
    },
    plan: { runtime: 'java', rootDirectories: ['server', 'worker'] },
  },
  {
    title: 'the starter of Gradle with a tool beside its program',
    files: {
      'settings.gradle': "include 'app', 'tool'\n",
      'app/build.gradle': "plugins {\n  id 'application'\n}\n",
      'tool/build.gradle': "plugins {\n  id 'application'\n}\n",
    },
    plan: { runtime: 'java', obstacle: null, startCommand: '/app/server' },
  },
]

import { describe } from 'vitest'
import { attackEach } from './attacks.ts'

describe('a tree of Go, Java, Scala, Rust or C# that was written to take long', () => {
  attackEach([
    [
      'go.mod',
      ['module ', 'replace ', 'replace x =>', 'go 1.', '../', './..', '$x/'],
      { 'main.go': 'package main' },
    ],
    ['main.go', ['package main', '//go:build'], { 'go.mod': 'module x' }],
    ['pom.xml', ['<java.version>'], {}],
    ['system.properties', ['java.runtime.version'], { 'pom.xml': '' }],
    ['build.sbt', ['name := "', 'ThisBuild /'], { 'project/plugins.sbt': 'sbt-native-packager' }],
    ['Cargo.toml', ['[[bin]]', '[package]\nname', 'default-run'], {}],
    ['rust-toolchain', ['channel', '1.'], { 'Cargo.toml': '[package]\nname = "x"' }],
    ['x.csproj', ['<Project Sdk="', '<TargetFramework>', '<OutputType>', '<!--'], {}],
  ])
})

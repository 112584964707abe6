import { containing, withNote, type CorpusTree } from './tree.ts'

const DOTNET_PROGRAM = (more: string): string =>
  `<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType><TargetFramework>net9.0</TargetFramework>${more}</Project>`

const PACKAGE = (name: string): string =>
  `</PropertyGroup><ItemGroup><PackageReference Include="${name}" Version="1" /></ItemGroup>`

/** Programs of .NET. */
export const DOTNET: CorpusTree[] = [
  {
    title: 'ASP.NET',
    files: {
      'Shop.Api.csproj':
        '<Project Sdk="Microsoft.NET.Sdk.Web"><PropertyGroup><TargetFramework>net9.0</TargetFramework></PropertyGroup></Project>',
    },
    plan: {
      runtime: 'dotnet',
      version: '9.0',
      framework: 'aspnet',
      // Its appsettings.json and wwwroot are looked for where it is started.
      startCommand: 'cd bin/publish && ASPNETCORE_URLS=http://0.0.0.0:$PORT dotnet Shop.Api.dll',
      buildCommand: 'dotnet publish Shop.Api.csproj -c Release -p:PublishDir=bin/publish/',
    },
    dockerfile: [
      'FROM mcr.microsoft.com/dotnet/sdk:9.0 AS build',
      'FROM mcr.microsoft.com/dotnet/aspnet:9.0',
    ],
  },
  {
    title: 'a solution of .NET, its web project below src/',
    files: {
      'Shop.sln': '',
      'src/Core/Core.csproj': '<Project Sdk="Microsoft.NET.Sdk"></Project>',
      'src/Web/Web.csproj':
        '<Project Sdk="Microsoft.NET.Sdk.Web"><TargetFramework>net8.0</TargetFramework><ProjectReference Include="x"/></Project>',
    },
    plan: {
      runtime: 'dotnet',
      version: '8.0',
      buildCommand: 'dotnet publish src/Web/Web.csproj -c Release -p:PublishDir=bin/publish/',
      startCommand: 'cd src/Web/bin/publish && ASPNETCORE_URLS=http://0.0.0.0:$PORT dotnet Web.dll',
    },
  },
  {
    title: 'Blazor in the browser',
    files: {
      'App.csproj':
        '<Project Sdk="Microsoft.NET.Sdk.BlazorWebAssembly"><TargetFramework>net10.0</TargetFramework></Project>',
    },
    plan: {
      runtime: 'dotnet',
      framework: 'blazor',
      isSite: true,
      singlePage: true,
      publishDirectory: 'bin/publish/wwwroot',
      startCommand: null,
    },
  },
  {
    title: '.NET with the folder of its Procfile as Heroku has it',
    files: {
      'Shop.sln': '',
      'Web/Web.csproj':
        '<Project Sdk="Microsoft.NET.Sdk.Web"><TargetFramework>net9.0</TargetFramework></Project>',
      Procfile: 'web: cd Web/bin/publish/; ./Web --urls http://*:$PORT\n',
    },
    plan: {
      runtime: 'dotnet',
      buildCommand: 'dotnet publish Web/Web.csproj -c Release -p:PublishDir=bin/publish/',
      startCommand: 'cd Web/bin/publish/; ./Web --urls http://*:$PORT',
    },
    dockerfile: ['COPY --from=build --chown=1000:1000 /app /app'],
  },
  {
    title: '.NET with its kind in a comment',
    files: {
      'x.csproj':
        '<!-- <Project Sdk="Microsoft.NET.Sdk.Worker"> -->\n<Project Sdk="Microsoft.NET.Sdk.Web"><TargetFramework>net8.0</TargetFramework></Project>',
    },
    plan: { runtime: 'dotnet', framework: 'aspnet' },
  },
  {
    title: 'several web projects of .NET',
    files: {
      'Shop.sln': '',
      'src/PublicApi/PublicApi.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"></Project>',
      'src/Web/Web.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"></Project>',
    },
    plan: {
      runtime: 'dotnet',
      buildCommand: 'dotnet publish src/Web/Web.csproj -c Release -p:PublishDir=bin/publish/',
      notes: withNote(
        'building src/Web/Web.csproj rather than src/PublicApi/PublicApi.csproj: set build_command and start_command for another',
      ),
    },
  },
  {
    title: 'a program of .NET that is one for desktops on one system alone',
    files: {
      'Tray.csproj':
        '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>WinExe</OutputType><OutputType Condition="\'$(OS)\' != \'Windows_NT\'">Exe</OutputType></PropertyGroup></Project>',
    },
    plan: { runtime: 'dotnet', startCommand: containing('dotnet Tray.dll'), obstacle: null },
  },
  {
    title: 'a bot of .NET that listens for those who watch it',
    files: {
      'Bot.csproj':
        '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType></PropertyGroup><ItemGroup><PackageReference Include="Discord.Net" Version="3" /></ItemGroup></Project>',
      'Program.cs': 'var listener = new HttpListener();\n',
    },
    plan: { runtime: 'dotnet', isWorker: false },
  },
  {
    title: 'a program for the desktop in .NET',
    files: {
      'Paint.csproj':
        '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>WinExe</OutputType><TargetFramework>net8.0</TargetFramework></PropertyGroup></Project>',
    },
    plan: { runtime: 'dotnet', startCommand: null, obstacle: containing('a program for desktops') },
  },
  {
    title: 'a bot of .NET',
    files: { 'Bot.csproj': DOTNET_PROGRAM(PACKAGE('DSharpPlus.Commands')), 'Program.cs': '' },
    plan: { runtime: 'dotnet', isWorker: true },
  },
  {
    title: 'a program of .NET that serves and is a bot',
    files: {
      'Bot.csproj': DOTNET_PROGRAM(
        '</PropertyGroup><ItemGroup><FrameworkReference Include="Microsoft.AspNetCore.App" /><PackageReference Include="Telegram.Bot" Version="1" /></ItemGroup>',
      ),
    },
    plan: { runtime: 'dotnet', isWorker: false },
  },
  {
    title: 'a worker service of .NET',
    files: {
      'Jobs.csproj':
        '<Project Sdk="Microsoft.NET.Sdk.Worker"><PropertyGroup><TargetFramework>net9.0</TargetFramework></PropertyGroup></Project>',
    },
    plan: { runtime: 'dotnet', isWorker: true },
  },
  {
    title: 'functions for Azure',
    files: {
      'Api.csproj': DOTNET_PROGRAM('<AzureFunctionsVersion>v4</AzureFunctionsVersion></PropertyGroup>'),
      'host.json': '{}',
    },
    plan: { runtime: 'dotnet', obstacle: containing('Api.csproj is for Azure Functions') },
  },
]

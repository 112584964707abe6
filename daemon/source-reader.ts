import { join } from 'node:path'
import { packContext, readSeparateFiles } from './builds/context.ts'
import { CHOOSE_RECIPE, PACK_CONTEXT, READ_SEPARATE_FILES } from './builds/reader-calls.ts'
import { chooseRecipe } from './builds/choose-recipe.ts'
import { endWithLifeline, handler, serveCalls } from './reader/serve.ts'
import { LIFT_FOLDER, TAKE_FOLDER } from './sites/reader-calls.ts'
import { takeFolder } from './sites/take-folder.ts'
import { unpackFolder } from './sites/unpack-folder.ts'
import { deleteTree } from './sources/delete-tree.ts'
import { untilTooLarge } from './sources/directory-size.ts'
import {
  KEEP_ARCHIVE,
  LINK_TREE,
  READ_POINTERS,
  REMOVE_TREE,
  UNPACK_ARCHIVE,
  WATCH_SIZE,
  WRITE_OBJECTS,
} from './sources/reader-calls.ts'
import { keepArchive } from './sources/keep-archive.ts'
import { readPointers, writeObjects } from './sources/lfs-files.ts'
import { linkTree } from './sources/link-tree.ts'
import { unpackArchive } from './sources/unpack.ts'

/** The program that reads users' files. Nothing in it may reach the database, the engine or a secret. */
serveCalls([
  handler(KEEP_ARCHIVE, (input, streams) => keepArchive(input, streams.input)),
  handler(UNPACK_ARCHIVE, unpackArchive),
  handler(WATCH_SIZE, untilTooLarge),
  handler(READ_POINTERS, readPointers),
  handler(WRITE_OBJECTS, (input, streams) => writeObjects(input, streams.input)),
  handler(LINK_TREE, linkTree),
  handler(REMOVE_TREE, deleteTree),
  handler(CHOOSE_RECIPE, chooseRecipe),
  handler(READ_SEPARATE_FILES, readSeparateFiles),
  handler(PACK_CONTEXT, (input, streams) => packContext(input, streams.output)),
  handler(TAKE_FOLDER, takeFolder),
  handler(LIFT_FOLDER, (input, streams) => unpackFolder(input, streams.input)),
])
endWithLifeline(join(import.meta.dirname, 'lifeline.mjs'))

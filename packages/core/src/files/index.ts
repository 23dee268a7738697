export { FileKindError, openRegularFile, openRegularFileSync, readRegularFile, readRegularFileSync } from './regular-file.ts'
export { replaceFile } from './replace-file.ts'

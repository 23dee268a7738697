import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { replaceFile } from './files.ts'
import { type Changed, type Database, databaseSchema, emptyDatabase } from './tables.ts'

export interface DatabaseFile {
  read(): Promise<Database>
  /** Writes the result of `apply` atomically. Changes run one after another. */
  change<T>(apply: (database: Database) => Changed<T>): Promise<T>
}

/** A database in one JSON file, read for each operation, so that several servers see each other's changes. */
export function databaseIn(file: string): DatabaseFile {
  const read = async (): Promise<Database> => {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw new Error(`Reading the database failed (${error.code}). The operator of the server must check it.`, {
        cause: error,
      })
    })
    return text === undefined ? emptyDatabase : parsed(text)
  }
  let last: Promise<unknown> = Promise.resolve()
  return {
    read,
    change(apply) {
      const work = async (before: Promise<unknown>) => {
        await before.catch(() => undefined)
        const { next, result } = apply(await read())
        await mkdir(dirname(file), { recursive: true })
        await replaceFile(file, JSON.stringify(next))
        return result
      }
      const done = work(last)
      last = done
      return done
    },
  }
}

function parsed(text: string): Database {
  try {
    return databaseSchema.parse(JSON.parse(text))
  } catch (error) {
    throw new Error('The database file is corrupt. The operator of the server must repair or move it.', { cause: error })
  }
}

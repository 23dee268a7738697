import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface Certified {
  readonly key: Buffer
  readonly cert: Buffer
}

/** A certificate authority of one test, with the certificate `file`. */
export interface Authority {
  readonly file: string
  /** A certificate for these names, such as `DNS:localhost`; with a negative number of days it has expired. */
  certify(names: string, days?: number): Promise<Certified>
  /** A self-signed certificate. */
  selfSigned(names: string): Promise<Certified>
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** Creates an authority in a folder. Nothing of it outlives the folder. */
export async function authority(folder: string): Promise<Authority> {
  const openssl = (...args: readonly string[]) => promisify(execFile)('openssl', [...args], { cwd: folder })
  const at = (name: string): string => join(folder, name)
  let made = 0
  const read = async (name: string): Promise<Certified> => ({
    key: await readFile(at(`${name}.key`)),
    cert: await readFile(at(`${name}.pem`)),
  })
  const self = (name: string, ...args: readonly string[]) =>
    openssl(
      'req',
      '-x509',
      ...newKey,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.pem`,
      '-subj',
      `/CN=${name}`,
      '-days',
      '2',
      ...args,
    )
  await self('authority')
  return {
    file: at('authority.pem'),
    async certify(names, days = 2) {
      const name = `leaf-${made++}`
      await openssl('req', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`)
      await writeFile(at(`${name}.ext`), `subjectAltName=${names}\n`)
      const signed = ['-CA', 'authority.pem', '-CAkey', 'authority.key', '-CAcreateserial', '-extfile', `${name}.ext`]
      await openssl('x509', '-req', '-in', `${name}.csr`, ...signed, '-out', `${name}.pem`, '-days', String(days))
      return read(name)
    },
    async selfSigned(names) {
      const name = `self-${made++}`
      await self(name, '-addext', `subjectAltName=${names}`)
      return read(name)
    },
  }
}

import { canonicalJson } from '@unfold-mcp/core'
import { sha256 } from '../../base/sha256.ts'
import type { Config } from '../schema.ts'

/** Version of the policy: SHA-256 of its canonical JSON, the same for equal policies. */
export const policyDigest = ({ policy }: Pick<Config, 'policy'>): string =>
  Buffer.from(sha256(canonicalJson(policy ?? null))).toString('hex')

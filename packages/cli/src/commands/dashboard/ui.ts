import type { SignInLink } from '@unfold-mcp/gateway/admin-api'
import { exit } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { openAddress } from '../../base/open-browser.ts'
import { adminRequest, requireGateway } from '../../gateway/running.ts'
import { type Invocation, isSet } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'

/** Opens the dashboard with a link that signs the browser in once. */
export async function run({ flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  const gateway = await requireGateway(flags, io, output)
  const response = await adminRequest(gateway, 'links', { method: 'POST', signal: io.signal })
  const { url, expiresAt } = (await response.json()) as SignInLink
  const isOpened = !isSet(flags, 'no-open') && (await openAddress(new URL(url), io))
  const text = isOpened ? 'The dashboard opens in your browser.' : `Open this link within ten minutes; it works once:\n  ${url}`
  output.result(text, { url, expiresAt, isOpened })
  return exit.ok
}

// Installs programs that tests need and npm cannot provide, if that needs no password.
import { pathToFileURL } from 'node:url'
import { bubblewrap } from './bubblewrap.mjs'
import { chromium } from './chromium.mjs'
import { canInstallPackages, installPackages } from './debian.mjs'
import { redis } from './redis.mjs'
import { shells } from './shells.mjs'

const requirements = [chromium, ...bubblewrap, ...shells, redis]
const missing = () => requirements.filter(({ isPresent }) => !isPresent())

/**
 * Installs the system packages that tests need, after printing each with its reason. Returns at once if nothing is missing, and
 * never fails: tests that need a missing program are skipped. UNFOLD_NO_INSTALL=1 prevents the installation.
 */
export async function ensureSystemPackages() {
  if (missing().length === 0) return
  if (process.env.UNFOLD_NO_INSTALL === '1') {
    reportSkipped('UNFOLD_NO_INSTALL=1')
    return
  }
  const installable = missing().filter((each) => each.package !== undefined)
  if (installable.length > 0 && (await canInstallPackages())) {
    console.error(
      'Installing system packages with apt-get (about a minute; UNFOLD_NO_INSTALL=1 skips this and the tests that need them):',
    )
    for (const each of installable) console.error(`  ${each.package}: ${each.reason}`)
    await installPackages(installable.map((each) => each.package))
  }
  if (missing().length > 0) reportSkipped('not found')
}

function reportSkipped(cause) {
  console.error(`Tests that need the following programs are skipped (${cause}):`)
  for (const { name, reason, advice } of missing())
    console.error(`  ${name}: ${reason}.${advice === undefined ? '' : ` ${advice}`}`)
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await ensureSystemPackages()

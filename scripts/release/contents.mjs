// Checks package.json and the packed files of the published packages.
import { join } from 'node:path'
import { outdatedOutput } from '../outdated.mjs'
import { npm } from '../processes.mjs'
import { packages, readManifest, manifest as repository } from '../workspaces.mjs'
import { versionConstants } from './version-constants.mjs'

const required = ['package.json', 'README.md', 'LICENSE']
const others = ['bundle/LICENSES.txt', 'bundle/table-data.json', 'NOTICE.txt', 'unfold.schema.json']
// Compiled code with source maps, and declarations. Declaration maps point to sources, which are not packed.
const compiled = /^(?:dist|bundle)\/.*(?<!\.d)\.m?js(?:\.map)?$|^dist\/.*\.d\.m?ts$/
// Static files of the dashboard.
const page = /^dist\/(?:index\.html|LICENSES\.txt|assets\/[\w-]+\.(?:js|css|svg))$/
const development = /\.(?:test|test-d|examples)\.|(?:^|\/)(?:test|tests|fixtures)\//
const exact = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/

const manifests = new Map(packages.map((folder) => [folder, readManifest(folder)]))
const versions = new Map([...manifests.values()].map(({ name, version }) => [name, version]))
const packed = await packedFiles()

if (repository.private !== true) report('package.json', 'must be private: only the packages are published')
for (const [folder, manifest] of manifests) {
  checkManifest(folder, manifest)
  checkFiles(folder, packed.get(manifest.name) ?? [])
}

function checkManifest(folder, { private: isPrivate, version, license, engines, dependencies = {} }) {
  const file = join(folder, 'package.json')
  if (isPrivate) report(file, 'must not be private')
  if (license !== repository.license) report(file, `license must be ${repository.license}`)
  if (engines?.node !== repository.engines.node) report(file, `engines.node must be ${repository.engines.node}`)
  for (const [name, range] of Object.entries(dependencies)) {
    if (!exact.test(range)) report(file, `${name} must have an exact version, not ${range}`)
    else if (versions.has(name) && versions.get(name) !== range) report(file, `${name} must have version ${versions.get(name)}`)
  }
  for (const constant of versionConstants(folder))
    if (constant.version !== version) report(constant.file, `version must be ${version}`)
}

function checkFiles(folder, files) {
  for (const file of required) if (!files.includes(file)) report(join(folder, file), 'is missing in the packed files')
  for (const file of files) {
    if (development.test(file)) report(join(folder, file), 'must not be packed: it is a test or an example')
    else if (![...required, ...others].includes(file) && !compiled.test(file) && !page.test(file))
      report(join(folder, file), 'must not be packed')
  }
  for (const file of outdatedOutput(folder)) report(join(folder, file), 'has no source; run "npm run build"')
}

/** Returns the files of each package, by its name. */
async function packedFiles() {
  const workspaces = packages.flatMap((folder) => ['--workspace', folder])
  const { code, output } = await npm(['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=silent', ...workspaces])
  if (code !== 0) throw new Error(output)
  // npm prints an array, newer versions an object.
  return new Map(Object.values(JSON.parse(output)).map(({ name, files }) => [name, files.map(({ path }) => path)]))
}

function report(file, problem) {
  console.error(`${file}: ${problem}`)
  process.exitCode = 1
}

/** Returns the Node arguments needed to run TypeScript, or `undefined` if this Node version cannot. */
export function typescriptArgs({
  features,
  allowedNodeEnvironmentFlags,
}: Pick<NodeJS.Process, 'features' | 'allowedNodeEnvironmentFlags'> = process): readonly string[] | undefined {
  if ('typescript' in features && typeof features.typescript === 'string') return []
  return allowedNodeEnvironmentFlags.has('--experimental-strip-types') ? ['--experimental-strip-types'] : undefined
}

// Finds redis-server for the tests of several replicas.
import { hasProgram } from './shells.mjs'

/** Requirement of the cluster tests. Other systems than Debian may have it as well; nothing installs it there. */
export const redis = {
  name: 'redis-server',
  package: 'redis-server',
  reason: 'the tests of several replicas run a real Redis',
  isPresent: () => hasProgram('redis-server'),
}

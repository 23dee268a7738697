// Finds bubblewrap for the tests of PID namespaces.
import { hasProgram } from './shells.mjs'

/** Requirement of the tests of PID namespaces; none outside Linux. */
export const bubblewrap =
  process.platform === 'linux'
    ? [
        {
          name: 'bubblewrap',
          package: 'bubblewrap',
          reason: 'the tests of "processes": "namespace" run servers in PID namespaces',
          isPresent: () => hasProgram('bwrap'),
        },
      ]
    : []

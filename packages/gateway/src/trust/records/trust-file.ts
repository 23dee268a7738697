import { decisionPath } from '../../stores/decision-path.ts'

/** Path of the decisions about the servers of a configuration file. `home` is the data folder. */
export const trustFile = (home: string, config: string): string => decisionPath(home, 'trust', config)

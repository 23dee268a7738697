/** True for a scope that lasts as long as its client is connected. */
export const isConnectionScope = (scope: string): boolean => scope.startsWith('session:') || scope.startsWith('connection:')

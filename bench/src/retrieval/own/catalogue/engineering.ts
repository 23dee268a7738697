import type { OwnServer } from '../server.ts'

/** Servers of a software team. */
export const engineering: readonly OwnServer[] = [
  {
    name: 'github',
    description: 'Repositories, issues, pull requests and workflows on GitHub',
    tools: [
      {
        name: 'create_issue',
        description: 'Create a new issue in a GitHub repository.',
        parameters: {
          owner: 'Repository owner',
          repo: 'Repository name',
          title: 'Issue title',
          body: 'Issue body',
          labels: 'Labels',
        },
      },
      {
        name: 'create_pull_request',
        description: 'Open a pull request from a head branch into a base branch.',
        parameters: {
          owner: 'Repository owner',
          repo: 'Repository name',
          head: 'Source branch',
          base: 'Target branch',
          title: 'Title',
          draft: 'Whether it is a draft',
        },
      },
      {
        name: 'merge_pull_request',
        description: 'Merge a pull request with a merge commit, squash or rebase.',
        parameters: {
          owner: 'Repository owner',
          repo: 'Repository name',
          pull_number: 'Number',
          merge_method: 'merge, squash or rebase',
        },
      },
      {
        name: 'request_reviewers',
        description: 'Request reviews of a pull request from users or teams.',
        parameters: { owner: 'Repository owner', repo: 'Repository name', pull_number: 'Number', reviewers: 'User names' },
      },
      {
        name: 'search_code',
        description: 'Search for code across repositories with GitHub code search syntax.',
        parameters: { q: 'Query', language: 'Programming language' },
      },
      {
        name: 'get_blame',
        description: 'Show for each line of a file the commit and author that last modified it.',
        parameters: { owner: 'Repository owner', repo: 'Repository name', path: 'File', ref: 'Branch or commit' },
      },
      {
        name: 'rerun_failed_jobs',
        description: 'Re-run all failed jobs of a workflow run.',
        parameters: { owner: 'Repository owner', repo: 'Repository name', run_id: 'Workflow run' },
      },
      {
        name: 'fork_repository',
        description: 'Fork a repository to your account or an organization.',
        parameters: { owner: 'Repository owner', repo: 'Repository name', organization: 'Target organization' },
      },
      {
        name: 'create_release',
        description: 'Publish a release for a tag, with generated notes.',
        parameters: { owner: 'Repository owner', repo: 'Repository name', tag: 'Tag', prerelease: 'Whether it is a prerelease' },
      },
    ],
  },
  {
    name: 'postgres',
    description: 'Read and administer PostgreSQL databases',
    tools: [
      {
        name: 'execute_sql',
        description: 'Run a read-only SQL statement and return its rows.',
        parameters: { sql: 'Statement', params: 'Bound values', database: 'Database' },
      },
      {
        name: 'describe_table',
        description: 'Show columns, types, constraints and indexes of a table.',
        parameters: { schema: 'Schema', table: 'Table' },
      },
      {
        name: 'explain_query',
        description: 'Return the execution plan of a query with cost estimates.',
        parameters: { sql: 'Statement', analyze: 'Whether to execute it' },
      },
      {
        name: 'create_backup',
        description: 'Dump a database to object storage.',
        parameters: { database: 'Database', destination: 'Bucket and path' },
      },
      {
        name: 'restore_backup',
        description: 'Restore a database from a dump, or to a point in time.',
        parameters: { backup_id: 'Dump', target: 'Database to overwrite', point_in_time: 'Timestamp' },
      },
      {
        name: 'list_locks',
        description: 'List blocked sessions and the sessions that hold the locks.',
        parameters: { database: 'Database' },
      },
    ],
  },
  {
    name: 'kubernetes',
    description: 'Operate workloads in a Kubernetes cluster',
    tools: [
      {
        name: 'list_pods',
        description: 'List pods in a namespace with phase, node and restart count.',
        parameters: { namespace: 'Namespace', selector: 'Label selector' },
      },
      {
        name: 'get_pod_logs',
        description: 'Print the logs of a container in a pod.',
        parameters: {
          namespace: 'Namespace',
          pod: 'Pod',
          container: 'Container',
          tail: 'Number of lines',
          previous: 'Logs of the previous instance',
        },
      },
      {
        name: 'rollout_undo',
        description: 'Roll a deployment back to a previous revision.',
        parameters: { namespace: 'Namespace', deployment: 'Deployment', revision: 'Revision; default: the previous one' },
      },
      {
        name: 'rollout_restart',
        description: 'Restart the pods of a deployment one after another.',
        parameters: { namespace: 'Namespace', deployment: 'Deployment' },
      },
      {
        name: 'scale_deployment',
        description: 'Set the number of replicas of a deployment.',
        parameters: { namespace: 'Namespace', deployment: 'Deployment', replicas: 'Number of replicas' },
      },
      {
        name: 'apply_manifest',
        description: 'Apply a YAML manifest to the cluster (server-side apply).',
        parameters: { manifest: 'YAML', namespace: 'Namespace', dry_run: 'Only validate' },
      },
      {
        name: 'delete_namespace',
        description: 'Delete a namespace with everything inside it.',
        parameters: { namespace: 'Namespace' },
      },
    ],
  },
  {
    name: 'monitoring',
    description: 'Metrics, alerts, on-call and incidents',
    tools: [
      {
        name: 'query_metrics',
        description: 'Evaluate a PromQL expression over a time range.',
        parameters: { query: 'PromQL', start: 'Start', end: 'End', step: 'Resolution' },
      },
      {
        name: 'list_alerts',
        description: 'List firing and pending alerts with their labels.',
        parameters: { state: 'firing or pending', severity: 'Severity' },
      },
      {
        name: 'silence_alert',
        description: 'Mute notifications of matching alerts for a duration.',
        parameters: { matchers: 'Label matchers', duration: 'For example 2h', comment: 'Why' },
      },
      {
        name: 'get_on_call',
        description: 'Show who is on call for a schedule now or at a given time.',
        parameters: { schedule: 'Schedule', at: 'Time' },
      },
      {
        name: 'page_responder',
        description: 'Page a person or escalation policy about an incident.',
        parameters: { target: 'Person or policy', message: 'Message', incident_id: 'Incident' },
      },
      {
        name: 'declare_incident',
        description: 'Declare an incident with severity and commander, and open its channel.',
        parameters: { title: 'Title', severity: 'sev1 to sev4', commander: 'Commander' },
      },
      {
        name: 'get_uptime',
        description: 'Return availability of an HTTP check as percentage, with outages.',
        parameters: { check_id: 'Check', period: 'Period' },
      },
    ],
  },
]

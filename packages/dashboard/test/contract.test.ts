import { expectTypeOf, test } from 'vitest'
import type * as Api from '../../gateway/src/admin/contract.ts'
import type * as Page from '../src/data/contract.ts'

// The page must not import the gateway, whose types need Node, so it declares the part of each reply that it reads.
test('the page reads what the admin API sends', () => {
  expectTypeOf<Api.GatewayStatus>().toExtend<Page.Status>()
  expectTypeOf<Api.UpstreamReport>().toExtend<Page.Server>()
  expectTypeOf<Api.ToolReport>().toExtend<Page.Tool>()
  expectTypeOf<Api.ToolDetail>().toExtend<Page.ToolDetail>()
  expectTypeOf<Api.ReviewItem>().toExtend<Page.ReviewItem>()
  expectTypeOf<Api.ConfigEdit>().toExtend<Page.ConfigEdit>()
  expectTypeOf<Api.ApprovalReport>().toExtend<Page.Approval>()
  expectTypeOf<Api.RecentCall>().toExtend<Page.Call>()
  expectTypeOf<Api.Client>().toExtend<Page.Client>()
  expectTypeOf<Api.ClientView>().toExtend<Page.ClientView>()
  expectTypeOf<Api.Visibility>().toExtend<Page.Visibility>()
  expectTypeOf<Api.Usage>().toExtend<Page.UsageReport>()
  expectTypeOf<Api.ConnectableHost>().toExtend<Page.ConnectableHost>()
  expectTypeOf<Api.ListChange>().toExtend<Page.ListChange>()
  expectTypeOf<Api.ServerDocuments>().toExtend<Page.ServerDocuments>()
  expectTypeOf<Api.ServerSettings>().toExtend<Page.ServerSettings>()
  expectTypeOf<Api.SettingsResult>().toExtend<Page.SettingsResult>()
  expectTypeOf<Api.AuditRecords>().toExtend<Page.AuditRecords>()
  expectTypeOf<Api.AuditVerification>().toExtend<Page.AuditVerification>()
  expectTypeOf<Api.PageSession>().toExtend<Page.PageSession>()
  expectTypeOf<Page.SettingChange>().toExtend<Api.SettingChange>()
})

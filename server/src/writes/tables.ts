import type { Generated } from 'kysely';

interface WriteRow {
  operation_id: string;
  client_id: string;
  emr: string;
  care_unit_id: string;
  sealed_plan: Buffer;
  key_hash: Buffer | null;
  patient_hashes: Generated<Buffer[]>;
  expires_at: Date | null;
  state: Generated<'running' | 'unknown' | 'undoing'>;
  missing_since: Date | null;
  owner: string;
  created_at: Generated<Date>;
}

interface GatewayRow {
  id: string;
  alive_until: Date;
}

export interface WriteTables {
  writes: WriteRow;
  gateways: GatewayRow;
}

const structure = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition/';
const operation = 'http://hl7.org/fhir/uv/subscriptions-backport/OperationDefinition/backport-subscription-';

/** HL7 Subscriptions R5 Backport 1.1.0: https://hl7.org/fhir/uv/subscriptions-backport/STU1.1/ */
export const backport = {
  server: 'http://hl7.org/fhir/uv/subscriptions-backport/CapabilityStatement/backport-subscription-server-r4',
  profile: `${structure}backport-subscription`,
  filter: `${structure}backport-filter-criteria`,
  content: `${structure}backport-payload-content`,
  heartbeat: `${structure}backport-heartbeat-period`,
  timeout: `${structure}backport-timeout`,
  maxCount: `${structure}backport-max-count`,
  topic: `${structure}capabilitystatement-subscriptiontopic-canonical`,
  status: `${operation}status`,
  events: `${operation}events`,
} as const;

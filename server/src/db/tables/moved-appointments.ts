interface MovedAppointmentRow {
  emr: string;
  appointment_id: string;
  former_id: string;
  supersedes_id: string;
}

export interface MovedAppointmentTables {
  moved_appointments: MovedAppointmentRow;
}

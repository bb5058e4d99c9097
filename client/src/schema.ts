// Generated from server/openapi.json by npm run client. Do not edit.

export interface paths {
    "/api/emrs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List EHRs */
        get: operations["list_emrs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an EHR */
        get: operations["get_emr"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List care units */
        get: operations["list_care_units"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a care unit */
        get: operations["get_care_unit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/appointments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List appointments
         * @description Requires `patient_id`, `resource_id`, or both `start` and `end`.
         */
        get: operations["list_appointments"];
        put?: never;
        /**
         * Create an appointment
         * @description Books one or more consecutive free time slots: the appointment must start where a free slot starts, end where one ends, and contain no gap. If the care unit requires a code for bookings, the appointment is `awaiting_confirmation` until the code is confirmed.
         */
        post: operations["create_appointment"];
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change several appointments
         * @description Applies to all appointments or to none. An update with `start` and `end` is a continuous reschedule: the appointments are placed in the consecutive time slots of the range. A longer range creates additional appointments; a shorter one cancels the last ones. A confirm requires that all ids await the same code and that this client started the confirmation. Every incorrect code counts as an attempt while any of the ids awaits the code.
         */
        patch: operations["change_appointments"];
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/appointments/{appointment_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an appointment */
        get: operations["get_appointment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change an appointment
         * @description The body is exactly one of update, cancel and confirm. When an appointment is moved, its own current time counts as free. In an EHR that cannot move appointments, the gateway books the new time and cancels the former appointment: the response then has a new `id`, and the former one in `supersedes_id`. An update never needs a code. Only the client that started a confirmation can confirm it; other clients get `confirmation_not_pending`. Cancelling again while a cancellation code is pending returns the same new id and sends no message.
         */
        patch: operations["change_appointment"];
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/appointments/{appointment_id}/confirmation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a new code
         * @description Sends a new code for all appointments that await the same code as this one. Only the client that started the confirmation can do this. The previous code becomes invalid and the expiry time is reset; the remaining attempts are not. A confirmation can have at most three codes, sent at least 30 seconds apart.
         */
        post: operations["resend_confirmation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/healthcare-services": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List healthcare services */
        get: operations["list_healthcare_services"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/patients": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find or create a patient
         * @description Returns the patient with this identifier. If the EHR has none, creates one. A patient who is found must have this family name and birth date, otherwise the response is 409 `patient_mismatch`, and shows nothing of the record. After five wrong ones of a client for a patient, the response is 429 `rate_limited` for a minute, whatever the name; each further one doubles the pause, up to an hour. Without `patients:read`, `phone`, `email` and `address` are null. Of several records with the identifier none is chosen: 409 `patient_ambiguous`. However often the request is sent, the EHR gets one patient.
         */
        post: operations["create_patient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/patients/{patient_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a patient */
        get: operations["get_patient"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/patients/{patient_id}/accesses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List accesses
         * @description Who had access to the patient's record: from the audit trail, at all care units of the EHR that the client is granted. For an application that shows patients who has read their record (GDPR, article 15). The request itself is in the next list.
         */
        get: operations["list_accesses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/patients/{patient_id}/documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List documents */
        get: operations["list_documents"];
        put?: never;
        /**
         * Create a document
         * @description Send the content as the file part `content` of `multipart/form-data`: up to 10 MiB unless the operator sets another limit. Or in base64 in JSON, whose body has at most 1 MiB. The content must be a PDF, a PNG, a JPEG or plain text in UTF-8, which its first bytes show.
         */
        post: operations["create_document"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/patients/{patient_id}/documents/{document_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a document */
        get: operations["get_document"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/patients/{patient_id}/documents/{document_id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a document
         * @description Content of a type that `create_document` does not support is sent as `application/octet-stream`.
         */
        get: operations["get_document_content"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/patients/{patient_id}/medical-notes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List medical notes */
        get: operations["list_medical_notes"];
        put?: never;
        /**
         * Create a medical note
         * @description The body can have up to 2 MiB.
         */
        post: operations["create_medical_note"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/patients/{patient_id}/medical-notes/{medical_note_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a medical note */
        get: operations["get_medical_note"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/patients/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search for patients
         * @description By family name and birth date, or by phone number, which stay out of URLs. Returns at most 20 patients, ordered by id, without those whose record is out of use. `operations` of the EHR says whether it can be searched. Some can by one of the two only: the other is 501 `operation_unsupported`.
         */
        post: operations["search_patients"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/resources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List resources */
        get: operations["list_resources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/resources/{resource_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a resource */
        get: operations["get_resource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/resources/{resource_id}/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List schedules */
        get: operations["list_schedules"];
        put?: never;
        /**
         * Create a schedule
         * @description The time slots of the schedule can be booked at once. It must not overlap another schedule of the resource within two years. An occurrence starts and ends at local times of the care unit; in between, slots follow each other in elapsed time. An occurrence whose start a clock change skips does not take place.
         */
        post: operations["create_schedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/resources/{resource_id}/schedules/{schedule_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a schedule */
        get: operations["get_schedule"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/resources/{resource_id}/schedules/{schedule_id}/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End a schedule
         * @description Removes the occurrences that start at or after `end_time`, with their time slots. Rejected with `schedule_has_appointments` if appointments take some of these slots; `errors` lists their ids. A schedule that ends earlier already is not changed.
         */
        post: operations["end_schedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/resources/{resource_id}/schedules/{schedule_id}/exceptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take a period out of a schedule
         * @description Removes the time slots that overlap the period. Rejected with `schedule_has_appointments` if appointments take some of these slots; `errors` lists their ids.
         */
        post: operations["add_schedule_exception"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/timeslots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List free time slots
         * @description Returns only slots that are entirely within the range and have not started.
         */
        get: operations["list_timeslots"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List events
         * @description Events of the care units that the client is granted, in order. A client that has read an event never misses an earlier one. To get the next events, send `next_after` of the previous response as `after`.
         */
        get: operations["list_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/oauth/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get an access token
         * @description OAuth 2.0 client credentials with `private_key_jwt` (RFC 6749, RFC 7523), as in SMART Backend Services. The access
         *     token goes into the header `authorization: Bearer …` of requests. Errors are those of RFC 6749, section 5.2.
         */
        post: operations["create_access_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/services": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List services of all care units
         * @description The services that `POST /api/timeslots/search` takes, and the care units that have them: those that the operators have named for all EHRs, and those by the codes of EHRs.
         */
        get: operations["list_services"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/timeslots/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search for time slots of many care units
         * @description Returns the first free time slots of many care units as one list. An EHR that is slow or away neither delays nor hides the others: its care units are in `unanswered`. What EHRs have shown lately is used again, as far as `max_age_seconds` allows. A booking always asks the EHR. Each EHR that is asked, beyond the first one, counts as a request of the client.
         */
        post: operations["search_timeslots"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/watches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List watches for time slots */
        get: operations["list_timeslot_watches"];
        put?: never;
        /**
         * Create a watch for time slots
         * @description Repeats a search until the watch ends. When a time appears that was not there before, the client gets an event `timeslot.found`, at most one a minute. EHRs are asked only if they have nothing else to do.
         */
        post: operations["create_timeslot_watch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/watches/{watch_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a watch for time slots */
        get: operations["get_timeslot_watch"];
        put?: never;
        post?: never;
        /** End a watch for time slots */
        delete: operations["delete_timeslot_watch"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhook-endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List webhook endpoints */
        get: operations["list_webhook_endpoints"];
        put?: never;
        /**
         * Create a webhook endpoint
         * @description The response contains the secret, which is not shown again.
         */
        post: operations["create_webhook_endpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhook-endpoints/{webhook_endpoint_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a webhook endpoint */
        get: operations["get_webhook_endpoint"];
        put?: never;
        post?: never;
        /** Delete a webhook endpoint */
        delete: operations["delete_webhook_endpoint"];
        options?: never;
        head?: never;
        /**
         * Change a webhook endpoint
         * @description An endpoint that is enabled again misses the events in between. Replay them.
         */
        patch: operations["change_webhook_endpoint"];
        trace?: never;
    };
    "/api/webhook-endpoints/{webhook_endpoint_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List deliveries */
        get: operations["list_webhook_deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhook-endpoints/{webhook_endpoint_id}/deliveries/{webhook_delivery_id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Redeliver an event
         * @description Creates a new delivery of the event. If a delivery of the event is pending, its next attempt is made at once instead.
         */
        post: operations["redeliver_event"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhook-endpoints/{webhook_endpoint_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay the events of a webhook endpoint
         * @description Delivers every event since a time again, in order, with the same ids. Events that were deleted at the end of their retention are not delivered. An endpoint can have one replay at a time and four within an hour.
         */
        post: operations["replay_events"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhook-endpoints/{webhook_endpoint_id}/secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the secret of a webhook endpoint
         * @description Deliveries are signed with both secrets until the previous one expires, or the next rotation. The response contains the new secret, which is not shown again.
         */
        post: operations["rotate_webhook_secret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhook-endpoints/{webhook_endpoint_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a test event */
        post: operations["test_webhook_endpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    event: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive an event
         * @description The gateway posts each event to the webhook endpoints that have its type, signed according to Standard Webhooks. The same event can arrive more than once, with the same `webhook-id`.
         */
        post: operations["receive_event"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /** @description An access to a patient's record through the gateway. */
        Access: {
            /**
             * @description `client`: a request of the client. `patient_page`: somebody with the link to the page for patients, which the client had asked for. `background`: the gateway, which completed or took back a write of the client, or released a time that was not confirmed.
             * @enum {string}
             */
            actor: "client" | "patient_page" | "background";
            care_unit_id: string;
            client: {
                /** @description `background`: the gateway itself, for no client. */
                id: string;
                /** @description As the operators configured it. Null if they no longer have such a client. */
                name: string | null;
            };
            /** @description What was done: an operation of this interface, such as `get_patient`; `view_patient_page`, `get_calendar_file`, `confirm_on_patient_page`, `cancel_on_patient_page` or `resend_on_patient_page`; in the background, the kind of write: `appointments`, `medical_note`, `document` or `expiry`. New values can be added. */
            operation: string;
            /** @description `success`, `dry_run`, `replayed` (an earlier response was sent again), or the reason of the problem. In the background also `not_done`, `undone` and `looked_up`. New values can be added. */
            outcome: string;
            /** @description Id of the request, or in the background of the write. */
            request_id: string;
            /**
             * Format: date-time
             * @description RFC 3339, with the care unit's UTC offset.
             */
            time: string;
        };
        /** @description An appointment of one patient with one resource. */
        Appointment: {
            /** @description What the EHR knows about the attendance. `arrived`: the patient is there. `completed`: the visit is over. Both are `booked`. `no_show`: the patient did not come; the appointment is `cancelled`. Null if the EHR does not say. */
            attendance?: ("arrived" | "completed" | "no_show") | null;
            care_unit_id: string;
            comment: string | null;
            confirmation: components["schemas"]["Confirmation"] | null;
            emr: string;
            /**
             * Format: date-time
             * @description RFC 3339, with the care unit's UTC offset. Null if the EHR does not say when the appointment ends.
             */
            end: string | null;
            /** @description Null if the EHR names none of the healthcare services of the care unit. */
            healthcare_service_id: string | null;
            id: string;
            /** @description How the patient and the resource meet. Null if the EHR does not say. */
            modality: ("in_person" | "phone" | "video") | null;
            /** @description What the EHR asks to tell the patient about this change, such as to come fasting. Only in the response of the write, and in its replay; null otherwise. */
            notice: string | null;
            /** @description As `emr_id:{value}`. Can be sent back unchanged. */
            patient_id: string;
            /** @description Id of the original appointment, if this id was created by a two-step cancellation. */
            replaces_id: string | null;
            /** @description As `emr_id:{value}`. Can be sent back unchanged. Null if the EHR names no resource of the care unit. */
            resource_id: string | null;
            /** @description The name that the EHR shows for the resource in the appointment. Null if it shows none: `resource_id` tells more. */
            resource_name?: string | null;
            /**
             * Format: date-time
             * @description RFC 3339, with the care unit's UTC offset.
             */
            start: string;
            /** @enum {string} */
            status: "awaiting_confirmation" | "booked" | "cancelled";
            /** @description Former id, if the EHR cannot move appointments, and this one was booked to move another. Shown for good. */
            supersedes_id: string | null;
        };
        /** @description Cancels the appointment. */
        AppointmentCancellation: {
            /**
             * Format: text
             * @description Free text, up to 2,000 characters. `""` clears it.
             */
            comment?: string;
            /**
             * Format: text
             * @description Where the page at `confirmation.page_url` links back to. The link has `outcome` (`confirmed`, `cancelled` or `expired`) and `appointment_id` in its query. The operator allows the URLs of each client. Ignored if no code is required.
             */
            return_url?: string;
            /**
             * @description Cancels the appointment.
             * @constant
             */
            status: "cancelled";
        };
        /** @description Confirms with the code that the patient received. Only the client that started the confirmation can do this. */
        AppointmentConfirmation: {
            confirmation: {
                /**
                 * Format: text
                 * @description The code that the patient received.
                 */
                code: string;
            };
        };
        AppointmentCreation: {
            /**
             * Format: text
             * @description Free text, up to 2,000 characters. `""` clears it.
             */
            comment?: string;
            /**
             * Format: care-unit-date-time
             * @description End of the appointment. Local time of the care unit, `YYYY-MM-DDThh:mm:ss`. Can be followed by the care unit's offset at that time, as in the response of `list_timeslots`. Without it, a time that occurs twice means the first.
             */
            end_time: string;
            /** Format: text */
            healthcare_service_id: string;
            patient_details?: components["schemas"]["PatientDetails"];
            /** @description Patient ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`. */
            patient_id: string;
            /** @description Resource ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`. */
            resource_id: string;
            /**
             * Format: text
             * @description Where the page at `confirmation.page_url` links back to. The link has `outcome` (`confirmed`, `cancelled` or `expired`) and `appointment_id` in its query. The operator allows the URLs of each client. Ignored if no code is required.
             */
            return_url?: string;
            /**
             * Format: care-unit-date-time
             * @description Start of the appointment. Local time of the care unit, `YYYY-MM-DDThh:mm:ss`. Can be followed by the care unit's offset at that time, as in the response of `list_timeslots`. Without it, a time that occurs twice means the first.
             */
            start_time: string;
        };
        /** @description Data of an event of an appointment. */
        AppointmentEvent: {
            /** @description Id of the appointment. In a two-step cancellation: the id of the original. */
            appointment_id: string;
            /** @description `appointment.attendance_changed`: what the EHR knows now. */
            attendance?: ("arrived" | "completed" | "no_show") | null;
            /** @description In a two-step cancellation: the id that awaits or awaited the code. Otherwise null. */
            cancellation_id: string | null;
            /** @description `appointment.updated`: names of the changed fields. */
            changed?: ("start" | "end" | "resource_id" | "comment")[];
            /**
             * Format: date-time
             * @description End, with the care unit's UTC offset. Null if the gateway does not know it.
             */
            end: string | null;
            /** @description Null if the gateway does not know it. */
            healthcare_service_id: string | null;
            /** @description `appointment.updated`: the former time and resource. */
            previous?: {
                /**
                 * Format: date-time
                 * @description Former end.
                 */
                end: string | null;
                resource_id: string | null;
                /**
                 * Format: date-time
                 * @description Former start.
                 */
                start: string;
            };
            /** @description `appointment.attendance_changed`: the former attendance. Absent if the gateway has no earlier event of the appointment. */
            previous_attendance?: ("arrived" | "completed" | "no_show") | null;
            /** @description As `emr_id:{value}`. Null if the gateway does not know it. */
            resource_id: string | null;
            /**
             * Format: date-time
             * @description Start, with the care unit's UTC offset. Null if the gateway does not know it.
             */
            start: string | null;
            /**
             * @description Status of the appointment.
             * @enum {string}
             */
            status: "booked" | "awaiting_confirmation" | "cancelled";
            /** @description `appointment.cancelled`: the new id, if the appointment was moved in this way. */
            superseded_by_id?: string;
            /** @description `appointment.booked`: the former id, if the EHR cannot move appointments and this one was booked to move another. */
            supersedes_id?: string;
        };
        /** @description An appointment as it would be after the request. */
        AppointmentPreview: {
            /** @description What the EHR knows about the attendance. `arrived`: the patient is there. `completed`: the visit is over. Both are `booked`. `no_show`: the patient did not come; the appointment is `cancelled`. Null if the EHR does not say. */
            attendance?: ("arrived" | "completed" | "no_show") | null;
            care_unit_id: string;
            /**
             * @description How the request would change the appointment.
             * @enum {string}
             */
            change: "kept" | "moved" | "updated" | "created" | "cancelled";
            comment: string | null;
            confirmation: components["schemas"]["ConfirmationPreview"] | null;
            emr: string;
            /**
             * Format: date-time
             * @description RFC 3339, with the care unit's UTC offset. Null if the EHR does not say when the appointment ends.
             */
            end: string | null;
            /** @description Null if the EHR names none of the healthcare services of the care unit. */
            healthcare_service_id: string | null;
            /** @description Null if it would be created. */
            id: string | null;
            /** @description How the patient and the resource meet. Null if the EHR does not say. */
            modality: ("in_person" | "phone" | "video") | null;
            /** @description What the EHR asks to tell the patient about this change, such as to come fasting. Only in the response of the write, and in its replay; null otherwise. */
            notice: string | null;
            /** @description As `emr_id:{value}`. Can be sent back unchanged. */
            patient_id: string;
            /** @description Id of the original appointment, if this id was created by a two-step cancellation. */
            replaces_id: string | null;
            /** @description As `emr_id:{value}`. Can be sent back unchanged. Null if the EHR names no resource of the care unit. */
            resource_id: string | null;
            /** @description The name that the EHR shows for the resource in the appointment. Null if it shows none: `resource_id` tells more. */
            resource_name?: string | null;
            /**
             * Format: date-time
             * @description RFC 3339, with the care unit's UTC offset.
             */
            start: string;
            /** @enum {string} */
            status: "awaiting_confirmation" | "booked" | "cancelled";
            /** @description Former id, if the EHR cannot move appointments, and this one was booked to move another. Shown for good. */
            supersedes_id: string | null;
        };
        /** @description Update. Send only the fields to change. */
        AppointmentUpdate: {
            /**
             * Format: text
             * @description Free text, up to 2,000 characters. `""` clears it.
             */
            comment?: string;
            /**
             * Format: date-time-or-local
             * @description New end; requires `start`. RFC 3339. Local time of the care unit if the offset is omitted.
             */
            end?: string;
            /** @description New resource. Resource ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`. */
            resource_id?: string;
            /**
             * Format: date-time-or-local
             * @description New start; requires `end`. RFC 3339. Local time of the care unit if the offset is omitted.
             */
            start?: string;
        };
        /** @description Cancels several appointments. */
        BulkCancellation: {
            /**
             * Format: text
             * @description Free text, up to 2,000 characters. `""` clears it.
             */
            comment?: string;
            ids: string[];
            /**
             * Format: text
             * @description Where the page at `confirmation.page_url` links back to. The link has `outcome` (`confirmed`, `cancelled` or `expired`) and `appointment_id` in its query. The operator allows the URLs of each client. Ignored if no code is required.
             */
            return_url?: string;
            /**
             * @description Cancels the appointment.
             * @constant
             */
            status: "cancelled";
        };
        /** @description Confirms several appointments that await the same code. */
        BulkConfirmation: {
            confirmation: {
                /**
                 * Format: text
                 * @description The code that the patient received.
                 */
                code: string;
            };
            ids: string[];
        };
        /** @description Without `start` and `end`, updates all appointments alike. With them, performs a continuous reschedule, which can need a code and so takes a `return_url`. */
        BulkUpdate: {
            /**
             * Format: text
             * @description Free text, up to 2,000 characters. `""` clears it.
             */
            comment?: string;
            /**
             * Format: date-time-or-local
             * @description New end; requires `start`. RFC 3339. Local time of the care unit if the offset is omitted.
             */
            end?: string;
            ids: string[];
            /** @description New resource. Resource ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`. */
            resource_id?: string;
            /**
             * Format: text
             * @description Where the page at `confirmation.page_url` links back to. The link has `outcome` (`confirmed`, `cancelled` or `expired`) and `appointment_id` in its query. The operator allows the URLs of each client. Ignored if no code is required.
             */
            return_url?: string;
            /**
             * Format: date-time-or-local
             * @description New start; requires `end`. RFC 3339. Local time of the care unit if the offset is omitted.
             */
            start?: string;
        };
        /** @description A care unit of an EHR. */
        CareUnit: {
            id: string;
            /**
             * @description Language of messages to patients.
             * @enum {string}
             */
            language: "nb" | "sv" | "en";
            name: string;
            /** @description IANA time zone. */
            time_zone: string;
        };
        /** @description A pending confirmation: a code was sent to the patient and has to be entered. */
        Confirmation: {
            /** @description Number of attempts left to enter the code. */
            attempts_remaining: number;
            /** @enum {string} */
            channel: "sms" | "email";
            /**
             * @description Delivery status of the latest message. `queued`: it is being sent. `delayed`: it has not left within a minute, and the gateway keeps trying until the code expires. `sent`: the provider has accepted it. `delivered`: the provider reports that it has arrived; not every provider does. `failed`: it will not be sent, or the provider reports that it did not arrive.
             * @enum {string}
             */
            delivery: "queued" | "delayed" | "sent" | "delivered" | "failed";
            /** Format: date-time */
            expires_at: string;
            /** @description Id of the confirmation. Appointments with the same confirmation id are confirmed by the same code. */
            id: string;
            /** @enum {string} */
            kind: "booking" | "cancellation";
            /** @description Page where the patient can enter the code, request a new one, and cancel a booking. The same for all codes of the confirmation. Only the client that began the confirmation gets it, with `appointments:write`. Otherwise, and without such pages, null. Whoever has the link sees the time and place of the appointment, and can cancel an awaiting booking. */
            page_url: string | null;
        };
        /** @description A confirmation as it would be after the request. */
        ConfirmationPreview: {
            /** @description Number of attempts left to enter the code. */
            attempts_remaining: number;
            /** @enum {string} */
            channel: "sms" | "email";
            delivery: ("queued" | "delayed" | "sent" | "delivered" | "failed") | null;
            /** Format: date-time */
            expires_at: string | null;
            /** @description Null if it would be created. */
            id: string | null;
            /** @enum {string} */
            kind: "booking" | "cancellation";
            /** @description Page where the patient can enter the code, request a new one, and cancel a booking. The same for all codes of the confirmation. Only the client that began the confirmation gets it, with `appointments:write`. Otherwise, and without such pages, null. Whoever has the link sees the time and place of the appointment, and can cancel an awaiting booking. */
            page_url: string | null;
        };
        /** @description A document of a patient, stored at the care unit. `get_document_content` returns its content. */
        Document: {
            /** @description As `emr_id:{value}`. Null if the EHR does not name an author. */
            author_id: string | null;
            /** @description Media type, as recorded in the EHR. */
            content_type: string;
            /**
             * Format: date-time
             * @description RFC 3339, with the care unit's UTC offset.
             */
            created_at: string;
            id: string;
            /** @description As `emr_id:{value}`. */
            patient_id: string;
            /** @description Size of the content in bytes. Null if the EHR does not know it. */
            size: number | null;
            title: string | null;
        };
        DocumentCreation: {
            /** @description A practitioner of the care unit. Resource ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`. */
            author_id?: string;
            /**
             * Format: byte
             * @description The content in base64 (RFC 4648 section 4). Larger content is sent as `multipart/form-data`.
             */
            content: string;
            /**
             * @description Media type of the content. Must be the type that the first bytes of the content show.
             * @enum {string}
             */
            content_type: "application/pdf" | "image/png" | "image/jpeg" | "text/plain";
            /**
             * Format: document-title
             * @description Title: one line that is not a path.
             */
            title?: string;
        };
        DocumentForm: {
            /** @description A practitioner of the care unit. Resource ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`. */
            author_id?: string;
            /**
             * Format: binary
             * @description The content, as a file part.
             */
            content: string;
            /**
             * @description Media type of the content. Must be the type that the first bytes of the content show. Default: the media type of the part `content`.
             * @enum {string}
             */
            content_type?: "application/pdf" | "image/png" | "image/jpeg" | "text/plain";
            /**
             * Format: document-title
             * @description Title: one line that is not a path.
             */
            title?: string;
        };
        /** @description An EHR connected to the gateway. */
        Emr: {
            /**
             * Format: date-time
             * @description Set while the EHR fails: when the gateway last used what it keeps of the EHR for a short time, such as resources and services. It may be out of date. Null otherwise.
             */
            answered_from_memory_at: string | null;
            /**
             * @description State of the circuit breaker, which opens after consecutive failures of the EHR.
             * @enum {string}
             */
            breaker: "closed" | "half_open" | "open";
            capabilities: {
                /**
                 * @description `code`: a booking must be confirmed with a code that is sent to the patient.
                 * @enum {string}
                 */
                booking_confirmation: "none" | "code";
                /**
                 * @description `code`: a cancellation must be confirmed with a code that is sent to the patient.
                 * @enum {string}
                 */
                cancellation_confirmation: "none" | "code";
                /** @description Operations that this EHR supports. Others fail with `operation_unsupported`. */
                operations: ("get_patient" | "search_patients" | "create_patient" | "list_accesses" | "list_resources" | "get_resource" | "list_schedules" | "create_schedule" | "get_schedule" | "end_schedule" | "add_schedule_exception" | "list_healthcare_services" | "list_timeslots" | "list_appointments" | "create_appointment" | "get_appointment" | "update_appointment" | "cancel_appointment" | "reschedule_appointments" | "list_medical_notes" | "create_medical_note" | "get_medical_note" | "list_documents" | "get_document" | "get_document_content" | "create_document")[];
                /** @description Identifier types that the EHR takes without a look-up of the patient. Responses then have a token in place of the identifier, which can be sent wherever an identifier can. Empty: the EHR looks patients up. */
                passes_through: string[];
                /**
                 * @description Whether the EHR takes `patient_details` of Create.
                 * @enum {string}
                 */
                patient_details: "none" | "optional" | "required";
                /** @description Identifier types by which patients can be looked up. */
                patient_identifier_types: string[];
                /** @description Identifier types by which resources can be looked up. */
                resource_identifier_types: string[];
                /**
                 * @description Whether the EHR takes `patient_id` of the list of time slots.
                 * @enum {string}
                 */
                timeslots_by_patient: "none" | "optional" | "required";
            };
            id: string;
            /**
             * Format: date-time
             * @description Time of the last successful call to the EHR. Null if there was none since the gateway started.
             */
            last_success_at: string | null;
            name: string;
            /**
             * Format: date-time
             * @description If `status` is `paused`: when the pause ends. Null if it ends when the operators resume the EHR.
             */
            paused_until: string | null;
            /**
             * @description Whether the EHR can be used now. `degraded`: the EHR has failed; the next request tests whether it has recovered. `unavailable`: the connection is not established or the circuit breaker is open; requests fail with `ehr_unavailable`. `paused`: the operators of the gateway have paused the EHR; requests fail with `ehr_paused`.
             * @enum {string}
             */
            status: "available" | "degraded" | "unavailable" | "paused";
            /** @description Records of the EHR that the gateway could not read within the last 24 hours, and left out of its responses. Other records are not affected. Empty: none. */
            unreadable_records: {
                count: number;
                /**
                 * Format: date-time
                 * @description When the first of them was left out.
                 */
                since: string;
                /** @description What the records are in the words of the EHR, such as `Appointment`. */
                type: string;
            }[];
        };
        /** @description Data of an event of an EHR. */
        EmrEvent: {
            /** @description `emr.changed`: what the EHR offers otherwise than before, such as `software`, `operations` or `Slot`. For people. */
            changed?: string[];
            /**
             * @description `emr.unavailable`: `failing` if calls to the EHR fail, `paused` if the operators of the gateway have paused it.
             * @enum {string}
             */
            reason?: "failing" | "paused";
            /** @enum {string} */
            status: "available" | "unavailable";
        };
        /** @description A change of an appointment, a message or an EHR, or a time that has become free. Contains ids, times and statuses, never personal data. */
        Event: {
            /** @description Null if the event concerns the whole EHR. */
            care_unit_id: string | null;
            /** @description `appointment.*`: an AppointmentEvent. `message.*`: a MessageEvent. `emr.*`: an EmrEvent. `timeslot.found`: a TimeslotEvent. `webhook.test`: empty. */
            data: components["schemas"]["AppointmentEvent"] | components["schemas"]["MessageEvent"] | components["schemas"]["EmrEvent"] | components["schemas"]["TimeslotEvent"];
            /** @description Id of the EHR. */
            emr: string;
            /** @description Unique. The same in every delivery of the event. */
            id: string;
            /**
             * Format: date-time
             * @description When the gateway recorded it.
             */
            timestamp: string;
            /**
             * @description `webhook.test`: a test, sent to one endpoint only.
             * @enum {string}
             */
            type: "appointment.booked" | "appointment.awaiting_confirmation" | "appointment.updated" | "appointment.cancelled" | "appointment.confirmation_expired" | "appointment.attendance_changed" | "message.delayed" | "message.failed" | "message.delivered" | "emr.unavailable" | "emr.recovered" | "emr.changed" | "timeslot.found" | "webhook.test";
        };
        /** @description A free time slot of one of several care units. */
        FoundTimeslot: {
            /**
             * Format: date-time
             * @description When the EHR was asked.
             */
            as_of: string;
            care_unit_id: string;
            emr: string;
            /** Format: date-time */
            end: string;
            healthcare_service_id: string;
            /** @description How the patient and the resource meet. Null if the EHR does not say. */
            modality: ("in_person" | "phone" | "video") | null;
            resource: {
                /** @description As `emr_id:{value}`. Can be sent back unchanged. */
                id: string;
                /** @description Null if the EHR did not name the resource in time. */
                name: string | null;
            };
            /** Format: date-time */
            start: string;
        };
        /** @description A healthcare service that can be booked. */
        HealthcareService: {
            /** @description What the service means, in codes that other EHRs may have too. Empty: the EHR has none. */
            codes: {
                code: string;
                display: string | null;
                /** @description URI of the system. Null if the EHR does not say. */
                system: string | null;
            }[];
            /** @description Typical duration in minutes. For information only: an appointment has the length of its time slots. */
            duration_minutes: number | null;
            id: string;
            name: string;
        };
        /** @description A medical note of a patient, written at the care unit. */
        MedicalNote: {
            /** @description Id of the appointment that the note is about. */
            appointment_id: string | null;
            /** @description As `emr_id:{value}`. Null if the EHR does not name an author. */
            author_id: string | null;
            /**
             * Format: date-time
             * @description RFC 3339, with the care unit's UTC offset.
             */
            created_at: string;
            id: string;
            /** @description As `emr_id:{value}`. Can be sent back unchanged. */
            patient_id: string;
            /** @description Plain text. A note that the EHR stores in another format is converted. */
            text: string;
            title: string | null;
        };
        MedicalNoteCreation: {
            /**
             * Format: text
             * @description Id of an appointment of the patient at the care unit.
             */
            appointment_id?: string;
            /** @description A practitioner of the care unit. Resource ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`. */
            author_id?: string;
            /**
             * Format: text-with-content
             * @description Plain text, up to 100,000 characters. Must not be blank.
             */
            text: string;
            /**
             * Format: line
             * @description One line, up to 200 characters. `""`: no title.
             */
            title?: string;
        };
        /** @description Data of an event of a message with a code. */
        MessageEvent: {
            /** @description Id of the first appointment that awaits the code. */
            appointment_id: string;
            /** @enum {string} */
            channel: "sms" | "email";
            /** @description Id of the confirmation whose code was in the message. */
            confirmation_id: string;
            message_id: string;
            /** @description Why the last attempt failed: a fixed word, or the provider's status code. Null in `message.delayed` if no attempt has failed yet. */
            reason: string | null;
        };
        /** @description A webhook endpoint with its secret. */
        NewWebhookEndpoint: {
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description `client`: disabled by a request. `gone`: it responded with 410. `failed`: of a Subscription, the handshake or the last attempt of a delivery has failed. Null if enabled. */
            disabled_reason: ("client" | "gone" | "failed") | null;
            /** @description Types of events to deliver. Null: all. */
            event_types: ("appointment.booked" | "appointment.awaiting_confirmation" | "appointment.updated" | "appointment.cancelled" | "appointment.confirmation_expired" | "appointment.attendance_changed" | "message.delayed" | "message.failed" | "message.delivered" | "emr.unavailable" | "emr.recovered" | "emr.changed" | "timeslot.found")[] | null;
            /**
             * Format: date-time
             * @description Since when it has taken no event: when the first of the deliveries was created that have failed for more than a minute, none of which has succeeded since. Null: it works, has got no event yet, or is disabled.
             */
            failing_since: string | null;
            id: string;
            /**
             * Format: date-time
             * @description Until then, deliveries are also signed with a previous secret. Null without one.
             */
            previous_secret_expires_at: string | null;
            /** @description Whether deliveries of a replay are still being created. */
            replaying: boolean;
            /** @description Key that signs the deliveries: `whsec_` and base64. Shown only in this response. */
            secret: string;
            /**
             * @description A disabled endpoint gets no events.
             * @enum {string}
             */
            status: "enabled" | "disabled";
            /** @description Of a Subscription of the FHIR interface, which gets notifications in FHIR. Otherwise null. */
            subscription: {
                /** @description The care unit of whose appointments it is told. */
                care_unit_id: string;
                /** @description Id of the EHR. */
                emr: string;
                /**
                 * @description As the Subscription says.
                 * @enum {string}
                 */
                status: "requested" | "active" | "error" | "off";
            } | null;
            /** @description Where events are posted. */
            url: string;
        };
        /** @description A patient, as recorded in the EHR. */
        Patient: {
            address: {
                city: string | null;
                /** @description ISO 3166-1 alpha-2 code. */
                country: string | null;
                lines: string[];
                postal_code: string | null;
            } | null;
            /** Format: date */
            birth_date: string | null;
            email: string | null;
            family_name: string | null;
            gender: ("male" | "female" | "other" | "unknown") | null;
            given_name: string | null;
            /** @description As `emr_id:{value}`. Can be sent back unchanged. */
            id: string;
            /** @description All known identifiers, in Patient ID notation. */
            identifiers: string[];
            /** @description Phone number in E.164 format. */
            phone: string | null;
        };
        PatientCreation: {
            address?: {
                /** Format: line */
                city?: string;
                /** @description ISO 3166-1 alpha-2 code. */
                country?: string;
                lines: string[];
                /** Format: line */
                postal_code?: string;
            };
            /** Format: date */
            birth_date: string;
            /** Format: email-address */
            email?: string;
            /** Format: name */
            family_name: string;
            /** @enum {string} */
            gender?: "male" | "female" | "other" | "unknown";
            /** Format: name */
            given_name: string;
            /** @description A national number of a type that the EHR knows. Patient ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`. */
            identifier: string;
            /**
             * Format: phone-number
             * @description E.164, such as `+46701740605`.
             */
            phone?: string;
        };
        /** @description What is known about the patient, for an EHR that takes it: `capabilities.patient_details` of the EHR. If that is `required`, both names must be sent. Stored encrypted, until the booking is confirmed. */
        PatientDetails: {
            /**
             * Format: email-address
             * @description A code is sent to it if there is no `phone`.
             */
            email?: string;
            /** Format: name */
            family_name?: string;
            /** Format: name */
            given_name?: string;
            /**
             * Format: phone-number
             * @description E.164, such as `+46701740605`. A code is sent to it.
             */
            phone?: string;
        };
        /** @description Either `family_name` and `birth_date`, or `phone`. Upper and lower case do not differ. */
        PatientSearch: {
            /** Format: date */
            birth_date?: string;
            /** Format: name */
            family_name?: string;
            /**
             * Format: phone-number
             * @description E.164, such as `+46701740605`.
             */
            phone?: string;
        };
        /** @description RFC 9457 problem details. Never contains personal data, codes or secrets. */
        Problem: {
            /** @description Number of attempts left. Present with `confirmation_code_incorrect`. */
            attempts_remaining?: number;
            /**
             * @description Class of the error. Corresponds to the status.
             * @enum {string}
             */
            code: "BAD_REQUEST" | "UNAUTHORIZED" | "FORBIDDEN" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "NOT_ACCEPTABLE" | "CONFLICT" | "PRECONDITION_FAILED" | "CONTENT_TOO_LARGE" | "URI_TOO_LONG" | "UNSUPPORTED_MEDIA_TYPE" | "UNPROCESSABLE_CONTENT" | "TOO_MANY_REQUESTS" | "HEADERS_TOO_LARGE" | "INTERNAL_SERVER_ERROR" | "NOT_IMPLEMENTED" | "BAD_GATEWAY" | "SERVICE_UNAVAILABLE" | "GATEWAY_TIMEOUT";
            detail: string;
            /** @description The faults, each with its place in the request. */
            errors: {
                detail: string;
                /** @description Request header. */
                header?: string;
                /** @description Id of the appointment at fault, if it was found. */
                id?: string;
                /** @description Path or query parameter. */
                parameter?: string;
                /** @description JSON Pointer (RFC 6901) into the body. */
                pointer?: string;
                reason: components["schemas"]["Reason"];
            }[];
            /**
             * @description Which side caused the error.
             * @enum {string}
             */
            origin: "caller" | "gateway" | "ehr";
            reason: components["schemas"]["Reason"];
            request_id: string;
            /** @description Whether the same request can succeed later. */
            retryable: boolean;
            status: number;
            title: string;
            /**
             * Format: uri-reference
             * @description Page that explains the reason.
             */
            type: string;
        };
        /**
         * @description Stable, machine-readable reason of an error. The list is closed.
         * @enum {string}
         */
        Reason: "request_invalid" | "identifier_malformed" | "identifier_type_unsupported" | "header_reference_missing" | "header_reference_forbidden" | "local_time_nonexistent" | "time_range_invalid" | "recurrence_invalid" | "cursor_invalid" | "search_too_costly" | "standard_unsupported" | "author_not_practitioner" | "time_slot_unavailable" | "content_type_mismatch" | "appointments_not_alike" | "confirmations_differ" | "confirmation_code_incorrect" | "credentials_invalid" | "scope_missing" | "route_not_found" | "emr_not_found" | "care_unit_not_found" | "patient_not_found" | "resource_not_found" | "healthcare_service_not_found" | "healthcare_service_not_offered" | "schedule_not_found" | "watch_not_found" | "watch_limit_reached" | "webhook_endpoint_not_found" | "webhook_delivery_not_found" | "webhook_url_rejected" | "webhook_endpoint_limit_reached" | "webhook_endpoint_disabled" | "appointment_not_found" | "medical_note_not_found" | "document_not_found" | "method_not_allowed" | "not_acceptable" | "appointment_cancelled" | "appointment_awaiting_confirmation" | "appointment_changed" | "patient_mismatch" | "appointment_started" | "change_not_allowed" | "confirmation_expired" | "confirmation_locked" | "confirmation_not_pending" | "resend_limit_reached" | "schedule_overlap" | "schedule_limit_reached" | "schedule_has_appointments" | "patient_inactive" | "patient_ambiguous" | "return_url_not_allowed" | "no_contact_channel" | "idempotency_in_progress" | "version_outdated" | "content_too_large" | "uri_too_long" | "media_type_unsupported" | "headers_too_large" | "idempotency_key_reused" | "patient_limit_reached" | "client_limit_reached" | "rate_limited" | "internal_error" | "operation_unsupported" | "ehr_rejected" | "partially_applied" | "ehr_unavailable" | "ehr_paused" | "overloaded" | "database_unavailable" | "time_slots_changing" | "audit_trail_incomplete" | "ehr_timeout" | "outcome_unknown";
        /** @description A practitioner, room or device that can be booked. */
        Resource: {
            /** @description Healthcare services that can be booked with this resource. */
            healthcare_service_ids: string[];
            /** @description As `emr_id:{value}`. Can be sent back unchanged. */
            id: string;
            /** @description All known identifiers, in Resource ID notation. */
            identifiers: string[];
            /** @enum {string} */
            kind: "practitioner" | "room" | "device";
            name: string;
        };
        /** @description When a resource can be booked: a period of a day, cut into time slots. */
        Schedule: {
            /**
             * Format: date-time
             * @description End of the first occurrence, or of the period that the time slots cover.
             */
            end: string | null;
            /**
             * Format: date-time
             * @description Set when the schedule was ended: no occurrence starts at or after this instant, whatever `recurrence` says.
             */
            ends_at: string | null;
            /** @description Periods without time slots. */
            exceptions: {
                /** Format: date-time */
                end: string;
                /** Format: date-time */
                start: string;
            }[];
            /** @description Healthcare services that can be booked. */
            healthcare_service_ids: string[];
            id: string;
            /** @description Recurrence rule of RFC 5545 without the `RRULE:` prefix, in local time of the care unit. Null: the schedule occurs once. */
            recurrence: string | null;
            /** @description As `emr_id:{value}`. Can be sent back unchanged. */
            resource_id: string;
            /** @description Length of a time slot. Null if the EHR does not say. */
            slot_minutes: number | null;
            /**
             * Format: date-time
             * @description Start of the first occurrence. RFC 3339, with the care unit's UTC offset. For a schedule that the EHR describes by its time slots alone: start of the period that they cover, or null.
             */
            start: string | null;
        };
        ScheduleCreation: {
            /**
             * Format: local-date-time
             * @description End of the first occurrence, at most 24 hours after its start. Local time of the care unit, `YYYY-MM-DDThh:mm:ss`.
             */
            end_time: string;
            /** @description Healthcare services that can be booked. The resource must offer them. */
            healthcare_service_ids: string[];
            /**
             * Format: text
             * @description Recurrence rule of RFC 5545 without the `RRULE:` prefix, such as `FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20271231T235959`. `FREQ` is `DAILY`, `WEEKLY`, `MONTHLY` or `YEARLY`. Requires `UNTIL` (UTC or local time of the care unit) or `COUNT`, and ends within ten years. With `BYMONTH`, `BYMONTHDAY`, `BYYEARDAY`, `BYWEEKNO` or `BYSETPOS`, or with `FREQ=YEARLY` and `BYDAY`, it has at most 1000 occurrences. `start_time` must be an occurrence. Absent: the schedule occurs once.
             */
            recurrence?: string;
            /** @description Length of a time slot. `end_time` must be a whole number of slots after `start_time`. */
            slot_minutes: number;
            /**
             * Format: local-date-time
             * @description Start of the first occurrence. Local time of the care unit, `YYYY-MM-DDThh:mm:ss`.
             */
            start_time: string;
        };
        ScheduleEnd: {
            /**
             * Format: local-date-time
             * @description Occurrences that start at or after this time are removed. In the future. Local time of the care unit, `YYYY-MM-DDThh:mm:ss`.
             */
            end_time: string;
        };
        ScheduleException: {
            /**
             * Format: local-date-time
             * @description End of the period, at most 366 days after its start. Local time of the care unit, `YYYY-MM-DDThh:mm:ss`.
             */
            end_time: string;
            /**
             * Format: local-date-time
             * @description Start of the period without time slots. In the future. Local time of the care unit, `YYYY-MM-DDThh:mm:ss`.
             */
            start_time: string;
        };
        /** @description A free time slot. An appointment covers one or more consecutive slots. */
        Timeslot: {
            /** Format: date-time */
            end: string;
            healthcare_service_id: string;
            /** @description How the patient and the resource meet. Null if the EHR does not say. */
            modality: ("in_person" | "phone" | "video") | null;
            /** @description As `emr_id:{value}`. Can be sent back unchanged. */
            resource_id: string;
            /** Format: date-time */
            start: string;
        };
        /** @description Data of an event of a watch for time slots. Only the client that has made it gets it. */
        TimeslotEvent: {
            /** @description How many slots were found. Search again to see all of them. */
            count: number;
            /**
             * Format: date-time
             * @description End, with the care unit's UTC offset.
             */
            end: string;
            healthcare_service_id: string;
            /** @description As `emr_id:{value}`. Can be sent back unchanged. */
            resource_id: string;
            /**
             * Format: date-time
             * @description Start of the first slot that was found, with the care unit's UTC offset.
             */
            start: string;
            /** @description Id of the watch that has found a time. */
            watch_id: string;
        };
        TimeslotSearch: {
            /** @description Where to look. Absent: in every care unit that the client is granted, at most 200. */
            care_units?: {
                /** Format: text */
                care_unit_id: string;
                /** Format: text */
                emr: string;
                /** @description Only these healthcare services of the care unit, instead of `service`. Absent: all. */
                healthcare_service_ids?: string[];
            }[];
            /**
             * Format: text
             * @description `next_cursor` of the previous page. Requires the same filters.
             */
            cursor?: string;
            /**
             * Format: date-time-or-local
             * @description End of the range, at most 92 days after `start`. RFC 3339. Local time of the care unit if the offset is omitted.
             */
            end: string;
            /** @description Maximum number of slots on a page. Default: 100. */
            limit?: number;
            /** @description How old what is shown may be. Default: 60. 0: every EHR is asked now. A time that was booked through the gateway is never shown. */
            max_age_seconds?: number;
            /**
             * @description Only slots that say so.
             * @enum {string}
             */
            modality?: "in_person" | "phone" | "video";
            /** @description Only the first slots of each care unit. Absent: all. */
            per_care_unit?: number;
            resource_ids?: string[];
            /**
             * Format: text
             * @description What the appointment is for, in every care unit that has it: a `service` of `GET /api/services`. Absent: anything.
             */
            service?: string;
            /**
             * Format: date-time-or-local
             * @description Start of the range. RFC 3339. Local time of the care unit if the offset is omitted.
             */
            start: string;
            /** @description Part of the day in the care unit's time zone. */
            time_of_day?: {
                /** @description `hh:mm`: slots end then or earlier, on the day on which they start. Default: `24:00`. */
                end?: string;
                /** @description `hh:mm`: slots start then or later. Default: `00:00`. */
                start?: string;
            };
            /** @description Milliseconds to wait for EHRs. Default: 3,000. Those that take longer are in `unanswered`. */
            wait_ms?: number;
            /** @description In the care unit's time zone. Absent: every day. */
            weekdays?: ("monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday")[];
        };
        /** @description A search that the gateway repeats, to tell of times that become free. */
        TimeslotWatch: {
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last found a time that was not there before.
             */
            found_at: string | null;
            id: string;
            /**
             * Format: date-time
             * @description When the gateway last looked. Null until the first look, which notes what is free already.
             */
            looked_at: string | null;
            /** @description The client's own, for example the id of an entry of a waiting list. The gateway keeps it encrypted. */
            reference: string | null;
            /** @description Null: the gateway lacks the key under which it keeps this watch, and does not look. The watch does not count. Create it again. */
            search: components["schemas"]["WatchedSearch"] | null;
            /**
             * Format: date-time
             * @description When it ends and is deleted.
             */
            until: string;
        };
        TimeslotWatchCreation: {
            /**
             * Format: text
             * @description The client's own, for example the id of an entry of a waiting list. The gateway keeps it encrypted.
             */
            reference?: string;
            search: components["schemas"]["WatchedSearch"];
            /**
             * Format: date-time-or-local
             * @description When it ends, if not with the range of the search. At most 92 days from now. Without an offset: UTC. RFC 3339. Local time of the care unit if the offset is omitted.
             */
            until: string;
        };
        /** @description A care unit of which slots may be missing, and why. */
        UnansweredCareUnit: {
            care_unit_id: string;
            detail: string;
            emr: string;
            /**
             * @description As in a problem document.
             * @enum {string}
             */
            reason: "operation_unsupported" | "ehr_rejected" | "ehr_unavailable" | "ehr_paused" | "ehr_timeout" | "time_slots_changing" | "rate_limited" | "internal_error";
            /** @description When the same search may find the missing slots. Null: it will not. */
            retry_after_seconds: number | null;
        };
        /** @description As in `POST /api/timeslots/search`. The first 500 slots count. */
        WatchedSearch: {
            /** @description Where to look. Absent: in every care unit that the client is granted, at most 200. */
            care_units?: {
                /** Format: text */
                care_unit_id: string;
                /** Format: text */
                emr: string;
                /** @description Only these healthcare services of the care unit, instead of `service`. Absent: all. */
                healthcare_service_ids?: string[];
            }[];
            /**
             * Format: date-time-or-local
             * @description End of the range, at most 92 days after `start`. RFC 3339. Local time of the care unit if the offset is omitted.
             */
            end: string;
            /**
             * @description Only slots that say so.
             * @enum {string}
             */
            modality?: "in_person" | "phone" | "video";
            resource_ids?: string[];
            /**
             * Format: text
             * @description What the appointment is for, in every care unit that has it: a `service` of `GET /api/services`. Absent: anything.
             */
            service?: string;
            /**
             * Format: date-time-or-local
             * @description Start of the range. RFC 3339. Local time of the care unit if the offset is omitted.
             */
            start: string;
            /** @description Part of the day in the care unit's time zone. */
            time_of_day?: {
                /** @description `hh:mm`: slots end then or earlier, on the day on which they start. Default: `24:00`. */
                end?: string;
                /** @description `hh:mm`: slots start then or later. Default: `00:00`. */
                start?: string;
            };
            /** @description In the care unit's time zone. Absent: every day. */
            weekdays?: ("monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday")[];
        };
        /** @description A delivery of an event to an endpoint, with its attempts. */
        WebhookDelivery: {
            /** @description Attempts so far. */
            attempts: number;
            /**
             * Format: date-time
             * @description Null while it is pending.
             */
            completed_at: string | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            event_id: string;
            event_type: string;
            id: string;
            /**
             * Format: date-time
             * @description Null before the first attempt.
             */
            last_attempt_at: string | null;
            /**
             * Format: date-time
             * @description Null once it has ended.
             */
            next_attempt_at: string | null;
            /** @description Why the last attempt failed, or was not made. `status`: the response was not 2xx. `address_rejected`: the URL or its address is not allowed. `connection_failed`: another failure of the connection. `not_granted`: the client is no longer granted the care unit. Null without a failure. */
            reason: ("status" | "timeout" | "address_rejected" | "connection_refused" | "host_unknown" | "certificate" | "tls" | "connection_failed" | "endpoint_disabled" | "not_granted") | null;
            /** @description HTTP status of the last response. Null without one. */
            response_status: number | null;
            /**
             * @description `pending`: the first attempt or a retry is due. `failed`: there are no more attempts.
             * @enum {string}
             */
            status: "pending" | "delivered" | "failed";
        };
        /** @description A URL of the client to which the gateway posts events. */
        WebhookEndpoint: {
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /** @description `client`: disabled by a request. `gone`: it responded with 410. `failed`: of a Subscription, the handshake or the last attempt of a delivery has failed. Null if enabled. */
            disabled_reason: ("client" | "gone" | "failed") | null;
            /** @description Types of events to deliver. Null: all. */
            event_types: ("appointment.booked" | "appointment.awaiting_confirmation" | "appointment.updated" | "appointment.cancelled" | "appointment.confirmation_expired" | "appointment.attendance_changed" | "message.delayed" | "message.failed" | "message.delivered" | "emr.unavailable" | "emr.recovered" | "emr.changed" | "timeslot.found")[] | null;
            /**
             * Format: date-time
             * @description Since when it has taken no event: when the first of the deliveries was created that have failed for more than a minute, none of which has succeeded since. Null: it works, has got no event yet, or is disabled.
             */
            failing_since: string | null;
            id: string;
            /**
             * Format: date-time
             * @description Until then, deliveries are also signed with a previous secret. Null without one.
             */
            previous_secret_expires_at: string | null;
            /** @description Whether deliveries of a replay are still being created. */
            replaying: boolean;
            /**
             * @description A disabled endpoint gets no events.
             * @enum {string}
             */
            status: "enabled" | "disabled";
            /** @description Of a Subscription of the FHIR interface, which gets notifications in FHIR. Otherwise null. */
            subscription: {
                /** @description The care unit of whose appointments it is told. */
                care_unit_id: string;
                /** @description Id of the EHR. */
                emr: string;
                /**
                 * @description As the Subscription says.
                 * @enum {string}
                 */
                status: "requested" | "active" | "error" | "off";
            } | null;
            /** @description Where events are posted. */
            url: string;
        };
        WebhookEndpointChange: {
            /** @description Types of events to deliver. Null: all. */
            event_types?: ("appointment.booked" | "appointment.awaiting_confirmation" | "appointment.updated" | "appointment.cancelled" | "appointment.confirmation_expired" | "appointment.attendance_changed" | "message.delayed" | "message.failed" | "message.delivered" | "emr.unavailable" | "emr.recovered" | "emr.changed" | "timeslot.found")[] | null;
            /**
             * @description `disabled` also ends the deliveries that are pending.
             * @enum {string}
             */
            status?: "enabled" | "disabled";
            /**
             * Format: text
             * @description An `https://` URL without user name, password and fragment, with a public address.
             */
            url?: string;
        };
        WebhookEndpointCreation: {
            /** @description Types of events to deliver. Null: all. */
            event_types?: ("appointment.booked" | "appointment.awaiting_confirmation" | "appointment.updated" | "appointment.cancelled" | "appointment.confirmation_expired" | "appointment.attendance_changed" | "message.delayed" | "message.failed" | "message.delivered" | "emr.unavailable" | "emr.recovered" | "emr.changed" | "timeslot.found")[] | null;
            /**
             * Format: text
             * @description An `https://` URL without user name, password and fragment, with a public address.
             */
            url: string;
        };
        WebhookReplay: {
            /**
             * Format: date-time
             * @description Every event since this time is delivered again. RFC 3339 with an offset.
             */
            from: string;
        };
        WebhookSecretRotation: {
            /** @description How long deliveries are also signed with the previous secret. Those before it sign until their own ends. 0: all end at once. Default: a day. */
            overlap_seconds?: number;
        };
        WebhookTest: {
            /** @description Id of the event, which has the type `webhook.test`. */
            event_id: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    list_emrs: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Requires the same filters. */
                cursor?: string;
                /** @description Maximum number of entries on a page. */
                limit?: number;
            };
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description EHRs that the client is granted, sorted by id. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "emrs": [
                     *         {
                     *           "id": "sandbox-no",
                     *           "name": "Sandkasse Norge",
                     *           "status": "available",
                     *           "paused_until": null,
                     *           "breaker": "closed",
                     *           "last_success_at": "2026-03-20T08:00:00Z",
                     *           "answered_from_memory_at": null,
                     *           "unreadable_records": [],
                     *           "capabilities": {
                     *             "patient_identifier_types": [
                     *               "emr_id",
                     *               "no_personal_number"
                     *             ],
                     *             "resource_identifier_types": [
                     *               "emr_id"
                     *             ],
                     *             "passes_through": [],
                     *             "patient_details": "none",
                     *             "timeslots_by_patient": "none",
                     *             "booking_confirmation": "none",
                     *             "cancellation_confirmation": "none",
                     *             "operations": [
                     *               "get_patient",
                     *               "list_timeslots",
                     *               "create_appointment"
                     *             ]
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        emrs: components["schemas"]["Emr"][];
                        /** @description Cursor for the next page. Null on the last page. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `cursor_invalid` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_emr: {
        parameters: {
            query?: never;
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The EHR. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "sandbox-no",
                     *       "name": "Sandkasse Norge",
                     *       "status": "available",
                     *       "paused_until": null,
                     *       "breaker": "closed",
                     *       "last_success_at": "2026-03-20T08:00:00Z",
                     *       "answered_from_memory_at": null,
                     *       "unreadable_records": [],
                     *       "capabilities": {
                     *         "patient_identifier_types": [
                     *           "emr_id",
                     *           "no_personal_number"
                     *         ],
                     *         "resource_identifier_types": [
                     *           "emr_id"
                     *         ],
                     *         "passes_through": [],
                     *         "patient_details": "none",
                     *         "timeslots_by_patient": "none",
                     *         "booking_confirmation": "none",
                     *         "cancellation_confirmation": "none",
                     *         "operations": [
                     *           "get_patient",
                     *           "list_timeslots",
                     *           "create_appointment"
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Emr"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_care_units: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Requires the same filters. */
                cursor?: string;
                /** @description Maximum number of entries on a page. */
                limit?: number;
            };
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Care units that the client is granted, sorted by id. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "care_units": [
                     *         {
                     *           "id": "oslo-sentrum",
                     *           "name": "Oslo sentrum",
                     *           "time_zone": "Europe/Oslo",
                     *           "language": "nb"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        care_units: components["schemas"]["CareUnit"][];
                        /** @description Cursor for the next page. Null on the last page. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `cursor_invalid` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_care_unit: {
        parameters: {
            query?: never;
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The care unit. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "oslo-sentrum",
                     *       "name": "Oslo sentrum",
                     *       "time_zone": "Europe/Oslo",
                     *       "language": "nb"
                     *     }
                     */
                    "application/json": components["schemas"]["CareUnit"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_appointments: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Requires the same filters. */
                cursor?: string;
                /** @description End of the range; requires `start`. RFC 3339. Local time of the care unit if the offset is omitted. */
                end?: string;
                /** @description Maximum number of entries on a page. */
                limit?: number;
                /**
                 * @description Patient ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`.
                 * @example emr_id:p-3
                 */
                patient_id?: string;
                /** @description Resource ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`. */
                resource_id?: string;
                /** @description Start of the range; requires `end`. Returns appointments that overlap the range. RFC 3339. Local time of the care unit if the offset is omitted. */
                start?: string;
                /**
                 * @description Status of the appointments. Can be repeated. Defaults to all.
                 * @example [
                 *       "booked"
                 *     ]
                 */
                status?: ("awaiting_confirmation" | "booked" | "cancelled")[];
            };
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Appointments, sorted by start, then id. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "appointments": [
                     *         {
                     *           "id": "7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55",
                     *           "status": "booked",
                     *           "start": "2027-03-19T09:00:00+01:00",
                     *           "end": "2027-03-19T09:30:00+01:00",
                     *           "comment": null,
                     *           "patient_id": "emr_id:p-3",
                     *           "resource_id": "emr_id:r-1",
                     *           "healthcare_service_id": "consultation",
                     *           "emr": "sandbox-no",
                     *           "care_unit_id": "oslo-sentrum",
                     *           "confirmation": null,
                     *           "replaces_id": null,
                     *           "supersedes_id": null,
                     *           "attendance": null,
                     *           "modality": null,
                     *           "notice": null
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        appointments: components["schemas"]["Appointment"][];
                        /** @description Cursor for the next page. Null on the last page. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `time_range_invalid`, `local_time_nonexistent`, `cursor_invalid`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden`, `patient_not_found`, `resource_not_found` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `patient_ambiguous` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_appointment: {
        parameters: {
            query?: {
                /** @description Validates the request and returns a preview with status 200. Changes nothing and sends no messages. */
                dry_run?: boolean;
            };
            header?: {
                /** @description A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "patient_id": "p-3",
                 *       "resource_id": "r-1",
                 *       "healthcare_service_id": "consultation",
                 *       "start_time": "2027-03-19T09:00:00",
                 *       "end_time": "2027-03-19T09:30:00"
                 *     }
                 */
                "application/json": components["schemas"]["AppointmentCreation"];
            };
        };
        responses: {
            /** @description The preview of a dry run. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppointmentPreview"];
                };
            };
            /** @description The appointment. */
            201: {
                headers: {
                    /** @description Set to `true` when a stored response is replayed. */
                    "idempotency-replayed"?: string;
                    /** @description Path of the created object. */
                    location?: string;
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55",
                     *       "status": "booked",
                     *       "start": "2027-03-19T09:00:00+01:00",
                     *       "end": "2027-03-19T09:30:00+01:00",
                     *       "comment": null,
                     *       "patient_id": "emr_id:p-3",
                     *       "resource_id": "emr_id:r-1",
                     *       "healthcare_service_id": "consultation",
                     *       "emr": "sandbox-no",
                     *       "care_unit_id": "oslo-sentrum",
                     *       "confirmation": null,
                     *       "replaces_id": null,
                     *       "supersedes_id": null,
                     *       "attendance": null,
                     *       "modality": null,
                     *       "notice": null
                     *     }
                     */
                    "application/json": components["schemas"]["Appointment"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `time_slot_unavailable`, `time_range_invalid`, `local_time_nonexistent`, `return_url_not_allowed`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden`, `patient_not_found`, `resource_not_found`, `healthcare_service_not_found` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress`, `patient_ambiguous`, `patient_inactive`, `no_contact_channel` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`, `patient_limit_reached`, `client_limit_reached` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `outcome_unknown`, `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    change_appointments: {
        parameters: {
            query?: {
                /** @description Validates the request and returns a preview with status 200. Changes nothing and sends no messages. */
                dry_run?: boolean;
            };
            header?: {
                /** @description A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ids": [
                 *         "7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55"
                 *       ],
                 *       "resource_id": "r-2"
                 *     }
                 */
                "application/json": components["schemas"]["BulkUpdate"] | components["schemas"]["BulkCancellation"] | components["schemas"]["BulkConfirmation"];
            };
        };
        responses: {
            /** @description The appointments in the order of `ids`. After a continuous reschedule: sorted by start, followed by the cancelled ones, sorted by start. */
            200: {
                headers: {
                    /** @description Set to `true` when a stored response is replayed. */
                    "idempotency-replayed"?: string;
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "appointments": [
                     *         {
                     *           "id": "7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55",
                     *           "status": "booked",
                     *           "start": "2027-03-19T09:00:00+01:00",
                     *           "end": "2027-03-19T09:30:00+01:00",
                     *           "comment": null,
                     *           "patient_id": "emr_id:p-3",
                     *           "resource_id": "emr_id:r-2",
                     *           "healthcare_service_id": "consultation",
                     *           "emr": "sandbox-no",
                     *           "care_unit_id": "oslo-sentrum",
                     *           "confirmation": null,
                     *           "replaces_id": null,
                     *           "supersedes_id": null,
                     *           "attendance": null,
                     *           "modality": null,
                     *           "notice": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        appointments: components["schemas"]["AppointmentPreview"][];
                    } | {
                        appointments: components["schemas"]["Appointment"][];
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `confirmation_code_incorrect`, `time_slot_unavailable`, `time_range_invalid`, `local_time_nonexistent`, `appointments_not_alike`, `confirmations_differ`, `return_url_not_allowed`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden`, `appointment_not_found`, `resource_not_found`, `patient_not_found` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress`, `appointment_cancelled`, `appointment_awaiting_confirmation`, `appointment_started`, `appointment_changed`, `change_not_allowed`, `confirmation_expired`, `confirmation_locked`, `confirmation_not_pending`, `patient_inactive`, `no_contact_channel` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`, `patient_limit_reached`, `client_limit_reached` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `partially_applied`, `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `outcome_unknown`, `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_appointment: {
        parameters: {
            query?: never;
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the appointment.
                 * @example 7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55
                 */
                appointment_id: string;
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The appointment. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55",
                     *       "status": "booked",
                     *       "start": "2027-03-19T09:00:00+01:00",
                     *       "end": "2027-03-19T09:30:00+01:00",
                     *       "comment": null,
                     *       "patient_id": "emr_id:p-3",
                     *       "resource_id": "emr_id:r-1",
                     *       "healthcare_service_id": "consultation",
                     *       "emr": "sandbox-no",
                     *       "care_unit_id": "oslo-sentrum",
                     *       "confirmation": null,
                     *       "replaces_id": null,
                     *       "supersedes_id": null,
                     *       "attendance": null,
                     *       "modality": null,
                     *       "notice": null
                     *     }
                     */
                    "application/json": components["schemas"]["Appointment"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `appointment_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    change_appointment: {
        parameters: {
            query?: {
                /** @description Validates the request and returns a preview with status 200. Changes nothing and sends no messages. */
                dry_run?: boolean;
            };
            header?: {
                /** @description A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the appointment.
                 * @example 7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55
                 */
                appointment_id: string;
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "start": "2027-03-19T10:00:00+01:00",
                 *       "end": "2027-03-19T10:30:00+01:00"
                 *     }
                 */
                "application/json": components["schemas"]["AppointmentUpdate"] | components["schemas"]["AppointmentCancellation"] | components["schemas"]["AppointmentConfirmation"];
            };
        };
        responses: {
            /** @description The appointment. */
            200: {
                headers: {
                    /** @description Set to `true` when a stored response is replayed. */
                    "idempotency-replayed"?: string;
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55",
                     *       "status": "booked",
                     *       "start": "2027-03-19T10:00:00+01:00",
                     *       "end": "2027-03-19T10:30:00+01:00",
                     *       "comment": null,
                     *       "patient_id": "emr_id:p-3",
                     *       "resource_id": "emr_id:r-1",
                     *       "healthcare_service_id": "consultation",
                     *       "emr": "sandbox-no",
                     *       "care_unit_id": "oslo-sentrum",
                     *       "confirmation": null,
                     *       "replaces_id": null,
                     *       "supersedes_id": null,
                     *       "attendance": null,
                     *       "modality": null,
                     *       "notice": null
                     *     }
                     */
                    "application/json": components["schemas"]["AppointmentPreview"] | components["schemas"]["Appointment"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `confirmation_code_incorrect`, `time_slot_unavailable`, `time_range_invalid`, `local_time_nonexistent`, `return_url_not_allowed`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden`, `resource_not_found` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `appointment_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress`, `appointment_cancelled`, `appointment_awaiting_confirmation`, `appointment_started`, `appointment_changed`, `change_not_allowed`, `confirmation_expired`, `confirmation_locked`, `confirmation_not_pending`, `patient_inactive`, `no_contact_channel` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`, `patient_limit_reached`, `client_limit_reached` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `outcome_unknown`, `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resend_confirmation: {
        parameters: {
            query?: never;
            header?: {
                /** @description A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the appointment.
                 * @example 7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55
                 */
                appointment_id: string;
                /**
                 * @description Id of the care unit in the EHR.
                 * @example sodermalm
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-se
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The appointment. */
            202: {
                headers: {
                    /** @description Set to `true` when a stored response is replayed. */
                    "idempotency-replayed"?: string;
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55",
                     *       "status": "awaiting_confirmation",
                     *       "start": "2027-03-19T09:00:00+01:00",
                     *       "end": "2027-03-19T09:30:00+01:00",
                     *       "comment": null,
                     *       "patient_id": "emr_id:p-3",
                     *       "resource_id": "emr_id:r-1",
                     *       "healthcare_service_id": "consultation",
                     *       "emr": "sandbox-se",
                     *       "care_unit_id": "sodermalm",
                     *       "confirmation": {
                     *         "id": "3b9f3c1e-5f0b-4f57-8f6a-0e4d9c1f2a77",
                     *         "kind": "booking",
                     *         "channel": "sms",
                     *         "delivery": "queued",
                     *         "expires_at": "2027-03-12T14:10:00+01:00",
                     *         "attempts_remaining": 5,
                     *         "page_url": "https://appointments.example.org/c/h8Vt3fKq0ZbR1yWm5LxNcD7e"
                     *       },
                     *       "replaces_id": null,
                     *       "supersedes_id": null,
                     *       "attendance": null,
                     *       "modality": null,
                     *       "notice": null
                     *     }
                     */
                    "application/json": components["schemas"]["Appointment"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `appointment_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress`, `confirmation_expired`, `confirmation_locked`, `confirmation_not_pending`, `resend_limit_reached`, `patient_inactive`, `no_contact_channel` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`, `patient_limit_reached`, `client_limit_reached` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `outcome_unknown`, `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_healthcare_services: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Requires the same filters. */
                cursor?: string;
                /** @description Maximum number of entries on a page. */
                limit?: number;
            };
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example riverside
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-uk
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Healthcare services, sorted by id. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "healthcare_services": [
                     *         {
                     *           "id": "consultation",
                     *           "name": "Consultation",
                     *           "codes": [
                     *             {
                     *               "system": "http://terminology.hl7.org/CodeSystem/service-type",
                     *               "code": "124",
                     *               "display": "General Practice"
                     *             }
                     *           ],
                     *           "duration_minutes": 30
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        healthcare_services: components["schemas"]["HealthcareService"][];
                        /** @description Cursor for the next page. Null on the last page. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `cursor_invalid` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_patient: {
        parameters: {
            query?: never;
            header?: {
                /** @description A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "identifier": "header:x-patient",
                 *       "given_name": "Rolig",
                 *       "family_name": "Strandsand",
                 *       "birth_date": "1974-01-30",
                 *       "phone": "+4700000003"
                 *     }
                 */
                "application/json": components["schemas"]["PatientCreation"];
            };
        };
        responses: {
            /** @description The patient, whom the EHR had already. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Patient"];
                };
            };
            /** @description The patient, who was created. */
            201: {
                headers: {
                    /** @description Set to `true` when a stored response is replayed. */
                    "idempotency-replayed"?: string;
                    /** @description Path of the created object. */
                    location?: string;
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "emr_id:p-3",
                     *       "identifiers": [
                     *         "emr_id:p-3"
                     *       ],
                     *       "given_name": "Rolig",
                     *       "family_name": "Strandsand",
                     *       "birth_date": "1974-01-30",
                     *       "gender": "male",
                     *       "phone": "+4700000003",
                     *       "email": "p-3@patients.example",
                     *       "address": {
                     *         "lines": [
                     *           "Prøveveien 3"
                     *         ],
                     *         "postal_code": "0001",
                     *         "city": "Oslo",
                     *         "country": "NO"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Patient"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress`, `patient_mismatch`, `patient_ambiguous` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `outcome_unknown`, `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_patient: {
        parameters: {
            query?: never;
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
                /**
                 * @description Patient ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`.
                 * @example emr_id:p-3
                 */
                patient_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The patient. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "emr_id:p-3",
                     *       "identifiers": [
                     *         "emr_id:p-3"
                     *       ],
                     *       "given_name": "Rolig",
                     *       "family_name": "Strandsand",
                     *       "birth_date": "1974-01-30",
                     *       "gender": "male",
                     *       "phone": "+4700000003",
                     *       "email": "p-3@patients.example",
                     *       "address": {
                     *         "lines": [
                     *           "Prøveveien 3"
                     *         ],
                     *         "postal_code": "0001",
                     *         "city": "Oslo",
                     *         "country": "NO"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Patient"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `patient_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `patient_ambiguous` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_accesses: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Requires the same filters. */
                cursor?: string;
                /** @description Returns accesses before this time. RFC 3339. Local time of the care unit if the offset is omitted. */
                end?: string;
                /** @description Maximum number of entries on a page. */
                limit?: number;
                /**
                 * @description Returns accesses at this time or later. RFC 3339. Local time of the care unit if the offset is omitted.
                 * @example 2027-03-01T00:00:00
                 */
                start?: string;
            };
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
                /**
                 * @description Patient ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`.
                 * @example emr_id:p-3
                 */
                patient_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accesses, newest first. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "accesses": [
                     *         {
                     *           "time": "2027-03-19T09:25:00+01:00",
                     *           "actor": "client",
                     *           "client": {
                     *             "id": "booking-site",
                     *             "name": "Booking site"
                     *           },
                     *           "operation": "list_appointments",
                     *           "care_unit_id": "oslo-sentrum",
                     *           "outcome": "success",
                     *           "request_id": "c4ac084f-7e88-4098-9555-dd9a14eb604b"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        accesses: components["schemas"]["Access"][];
                        /** @description Cursor for the next page. Null on the last page. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `time_range_invalid`, `local_time_nonexistent`, `cursor_invalid`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `patient_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `patient_ambiguous` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `audit_trail_incomplete`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_documents: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Requires the same filters. */
                cursor?: string;
                /**
                 * @description Maximum number of entries on a page.
                 * @example 20
                 */
                limit?: number;
            };
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
                /**
                 * @description Patient ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`.
                 * @example emr_id:p-3
                 */
                patient_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Documents stored at the care unit, newest first. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "documents": [
                     *         {
                     *           "id": "0197a2c4-5b1e-7c3f-9d20-3f6f0a6f2c11",
                     *           "patient_id": "emr_id:p-3",
                     *           "created_at": "2027-03-12T14:00:00+01:00",
                     *           "author_id": "emr_id:r-1",
                     *           "title": "Referral",
                     *           "content_type": "text/plain",
                     *           "size": 12
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        documents: components["schemas"]["Document"][];
                        /** @description Cursor for the next page. Null on the last page. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `cursor_invalid`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `patient_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `patient_ambiguous` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_document: {
        parameters: {
            query?: never;
            header?: {
                /** @description A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
                /**
                 * @description Patient ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`.
                 * @example emr_id:p-3
                 */
                patient_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "title": "Referral",
                 *       "content_type": "text/plain",
                 *       "content": "U2VlIHJlZmVycmFs",
                 *       "author_id": "emr_id:r-1"
                 *     }
                 */
                "application/json": components["schemas"]["DocumentCreation"];
                "multipart/form-data": components["schemas"]["DocumentForm"];
            };
        };
        responses: {
            /** @description The document. */
            201: {
                headers: {
                    /** @description Set to `true` when a stored response is replayed. */
                    "idempotency-replayed"?: string;
                    /** @description Path of the created object. */
                    location?: string;
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0197a2c4-5b1e-7c3f-9d20-3f6f0a6f2c11",
                     *       "patient_id": "emr_id:p-3",
                     *       "created_at": "2027-03-12T14:00:00+01:00",
                     *       "author_id": "emr_id:r-1",
                     *       "title": "Referral",
                     *       "content_type": "text/plain",
                     *       "size": 12
                     *     }
                     */
                    "application/json": components["schemas"]["Document"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `content_type_mismatch`, `author_not_practitioner`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden`, `resource_not_found` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `patient_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress`, `patient_ambiguous` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected`, `partially_applied` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `outcome_unknown`, `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_document: {
        parameters: {
            query?: never;
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the document.
                 * @example 0197a2c4-5b1e-7c3f-9d20-3f6f0a6f2c11
                 */
                document_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
                /**
                 * @description Patient ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`.
                 * @example emr_id:p-3
                 */
                patient_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document, without its content. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0197a2c4-5b1e-7c3f-9d20-3f6f0a6f2c11",
                     *       "patient_id": "emr_id:p-3",
                     *       "created_at": "2027-03-12T14:00:00+01:00",
                     *       "author_id": "emr_id:r-1",
                     *       "title": "Referral",
                     *       "content_type": "text/plain",
                     *       "size": 12
                     *     }
                     */
                    "application/json": components["schemas"]["Document"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `patient_not_found`, `document_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `patient_ambiguous` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_document_content: {
        parameters: {
            query?: never;
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the document.
                 * @example 0197a2c4-5b1e-7c3f-9d20-3f6f0a6f2c11
                 */
                document_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
                /**
                 * @description Patient ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`.
                 * @example emr_id:p-3
                 */
                patient_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                    "application/pdf": string;
                    "image/jpeg": string;
                    "image/png": string;
                    "text/plain": string;
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `patient_not_found`, `document_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `patient_ambiguous` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_medical_notes: {
        parameters: {
            query?: {
                /** @description Returns notes of this author. Resource ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`. */
                author_id?: string;
                /** @description `next_cursor` of the previous page. Requires the same filters. */
                cursor?: string;
                /** @description Returns notes created before this time. RFC 3339. Local time of the care unit if the offset is omitted. */
                end?: string;
                /** @description Maximum number of entries on a page. */
                limit?: number;
                /**
                 * @description Returns notes created at this time or later. RFC 3339. Local time of the care unit if the offset is omitted.
                 * @example 2027-03-01T00:00:00
                 */
                start?: string;
            };
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
                /**
                 * @description Patient ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`.
                 * @example emr_id:p-3
                 */
                patient_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Notes written at the care unit, newest first. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "medical_notes": [
                     *         {
                     *           "id": "c1f6a0de-52f5-4d2c-8e4e-3a5f3e4f8a10",
                     *           "patient_id": "emr_id:p-3",
                     *           "created_at": "2027-03-19T09:25:00+01:00",
                     *           "author_id": "emr_id:r-1",
                     *           "title": "Control",
                     *           "text": "The wound has healed. No further visits are needed.",
                     *           "appointment_id": null
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        medical_notes: components["schemas"]["MedicalNote"][];
                        /** @description Cursor for the next page. Null on the last page. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `time_range_invalid`, `local_time_nonexistent`, `cursor_invalid`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden`, `resource_not_found` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `patient_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `patient_ambiguous` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_medical_note: {
        parameters: {
            query?: never;
            header?: {
                /** @description A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
                /**
                 * @description Patient ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`.
                 * @example emr_id:p-3
                 */
                patient_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "title": "Control",
                 *       "text": "The wound has healed. No further visits are needed.",
                 *       "author_id": "r-1"
                 *     }
                 */
                "application/json": components["schemas"]["MedicalNoteCreation"];
            };
        };
        responses: {
            /** @description The note. */
            201: {
                headers: {
                    /** @description Set to `true` when a stored response is replayed. */
                    "idempotency-replayed"?: string;
                    /** @description Path of the created object. */
                    location?: string;
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "c1f6a0de-52f5-4d2c-8e4e-3a5f3e4f8a10",
                     *       "patient_id": "emr_id:p-3",
                     *       "created_at": "2027-03-19T09:25:00+01:00",
                     *       "author_id": "emr_id:r-1",
                     *       "title": "Control",
                     *       "text": "The wound has healed. No further visits are needed.",
                     *       "appointment_id": null
                     *     }
                     */
                    "application/json": components["schemas"]["MedicalNote"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `author_not_practitioner`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden`, `resource_not_found`, `appointment_not_found` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `patient_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress`, `patient_ambiguous`, `appointment_awaiting_confirmation`, `appointment_cancelled` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected`, `partially_applied` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `outcome_unknown`, `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_medical_note: {
        parameters: {
            query?: never;
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
                /**
                 * @description Id of the note.
                 * @example c1f6a0de-52f5-4d2c-8e4e-3a5f3e4f8a10
                 */
                medical_note_id: string;
                /**
                 * @description Patient ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`.
                 * @example emr_id:p-3
                 */
                patient_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The note. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "c1f6a0de-52f5-4d2c-8e4e-3a5f3e4f8a10",
                     *       "patient_id": "emr_id:p-3",
                     *       "created_at": "2027-03-19T09:25:00+01:00",
                     *       "author_id": "emr_id:r-1",
                     *       "title": "Control",
                     *       "text": "The wound has healed. No further visits are needed.",
                     *       "appointment_id": null
                     *     }
                     */
                    "application/json": components["schemas"]["MedicalNote"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `patient_not_found`, `medical_note_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `patient_ambiguous` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    search_patients: {
        parameters: {
            query?: never;
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "family_name": "Strandsand",
                 *       "birth_date": "1974-01-30"
                 *     }
                 */
                "application/json": components["schemas"]["PatientSearch"];
            };
        };
        responses: {
            /** @description The patients. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "patients": [
                     *         {
                     *           "id": "emr_id:p-3",
                     *           "identifiers": [
                     *             "emr_id:p-3"
                     *           ],
                     *           "given_name": "Rolig",
                     *           "family_name": "Strandsand",
                     *           "birth_date": "1974-01-30",
                     *           "gender": "male",
                     *           "phone": "+4700000003",
                     *           "email": "p-3@patients.example",
                     *           "address": {
                     *             "lines": [
                     *               "Prøveveien 3"
                     *             ],
                     *             "postal_code": "0001",
                     *             "city": "Oslo",
                     *             "country": "NO"
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        patients: components["schemas"]["Patient"][];
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_resources: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Requires the same filters. */
                cursor?: string;
                /** @description Maximum number of entries on a page. */
                limit?: number;
            };
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example sodermalm
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-se
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Resources, sorted by id. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "resources": [
                     *         {
                     *           "id": "emr_id:r-1",
                     *           "identifiers": [
                     *             "emr_id:r-1",
                     *             "hsa_id:SE0000000000-1001"
                     *           ],
                     *           "kind": "practitioner",
                     *           "name": "Läkare Noggrann Provsson",
                     *           "healthcare_service_ids": [
                     *             "consultation",
                     *             "vaccination"
                     *           ]
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description Cursor for the next page. Null on the last page. */
                        next_cursor: string | null;
                        resources: components["schemas"]["Resource"][];
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `cursor_invalid` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_resource: {
        parameters: {
            query?: never;
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example sodermalm
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-se
                 */
                emr: string;
                /**
                 * @description Resource ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`.
                 * @example hsa_id:SE0000000000-1001
                 */
                resource_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "emr_id:r-1",
                     *       "identifiers": [
                     *         "emr_id:r-1",
                     *         "hsa_id:SE0000000000-1001"
                     *       ],
                     *       "kind": "practitioner",
                     *       "name": "Läkare Noggrann Provsson",
                     *       "healthcare_service_ids": [
                     *         "consultation",
                     *         "vaccination"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Resource"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `resource_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_schedules: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Requires the same filters. */
                cursor?: string;
                /** @description End of the range, at most 366 days after `start`; requires `start`. RFC 3339. Local time of the care unit if the offset is omitted. */
                end?: string;
                /** @description Maximum number of entries on a page. */
                limit?: number;
                /** @description Start of the range; requires `end`. Returns schedules with an occurrence that overlaps the range. RFC 3339. Local time of the care unit if the offset is omitted. */
                start?: string;
            };
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
                /**
                 * @description Resource ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`.
                 * @example r-1
                 */
                resource_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Schedules, sorted by id. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "schedules": [
                     *         {
                     *           "id": "1f6ad7c3-0c1c-4a8e-8f40-5b0c6e1d7a91",
                     *           "resource_id": "emr_id:r-1",
                     *           "healthcare_service_ids": [
                     *             "consultation"
                     *           ],
                     *           "start": "2027-03-15T17:00:00+01:00",
                     *           "end": "2027-03-15T20:00:00+01:00",
                     *           "slot_minutes": 30,
                     *           "recurrence": "FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20271231T235959",
                     *           "ends_at": null,
                     *           "exceptions": []
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description Cursor for the next page. Null on the last page. */
                        next_cursor: string | null;
                        schedules: components["schemas"]["Schedule"][];
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden`, `time_range_invalid`, `local_time_nonexistent`, `cursor_invalid` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `resource_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_schedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
                /**
                 * @description Resource ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`.
                 * @example r-1
                 */
                resource_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "start_time": "2027-03-15T17:00:00",
                 *       "end_time": "2027-03-15T20:00:00",
                 *       "slot_minutes": 30,
                 *       "healthcare_service_ids": [
                 *         "consultation"
                 *       ],
                 *       "recurrence": "FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20271231T235959"
                 *     }
                 */
                "application/json": components["schemas"]["ScheduleCreation"];
            };
        };
        responses: {
            /** @description The schedule. */
            201: {
                headers: {
                    /** @description Set to `true` when a stored response is replayed. */
                    "idempotency-replayed"?: string;
                    /** @description Path of the created object. */
                    location?: string;
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "1f6ad7c3-0c1c-4a8e-8f40-5b0c6e1d7a91",
                     *       "resource_id": "emr_id:r-1",
                     *       "healthcare_service_ids": [
                     *         "consultation"
                     *       ],
                     *       "start": "2027-03-15T17:00:00+01:00",
                     *       "end": "2027-03-15T20:00:00+01:00",
                     *       "slot_minutes": 30,
                     *       "recurrence": "FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20271231T235959",
                     *       "ends_at": null,
                     *       "exceptions": []
                     *     }
                     */
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden`, `time_range_invalid`, `local_time_nonexistent`, `recurrence_invalid`, `healthcare_service_not_offered`, `healthcare_service_not_found` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `resource_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress`, `schedule_overlap`, `schedule_limit_reached` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected`, `partially_applied` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `outcome_unknown`, `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_schedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
                /**
                 * @description Resource ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`.
                 * @example r-1
                 */
                resource_id: string;
                /**
                 * @description Id of the schedule.
                 * @example 1f6ad7c3-0c1c-4a8e-8f40-5b0c6e1d7a91
                 */
                schedule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schedule. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "1f6ad7c3-0c1c-4a8e-8f40-5b0c6e1d7a91",
                     *       "resource_id": "emr_id:r-1",
                     *       "healthcare_service_ids": [
                     *         "consultation"
                     *       ],
                     *       "start": "2027-03-15T17:00:00+01:00",
                     *       "end": "2027-03-15T20:00:00+01:00",
                     *       "slot_minutes": 30,
                     *       "recurrence": "FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20271231T235959",
                     *       "ends_at": null,
                     *       "exceptions": []
                     *     }
                     */
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `resource_not_found`, `schedule_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    end_schedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
                /**
                 * @description Resource ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`.
                 * @example r-1
                 */
                resource_id: string;
                /**
                 * @description Id of the schedule.
                 * @example 1f6ad7c3-0c1c-4a8e-8f40-5b0c6e1d7a91
                 */
                schedule_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "end_time": "2027-07-01T00:00:00"
                 *     }
                 */
                "application/json": components["schemas"]["ScheduleEnd"];
            };
        };
        responses: {
            /** @description The schedule. */
            200: {
                headers: {
                    /** @description Set to `true` when a stored response is replayed. */
                    "idempotency-replayed"?: string;
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "1f6ad7c3-0c1c-4a8e-8f40-5b0c6e1d7a91",
                     *       "resource_id": "emr_id:r-1",
                     *       "healthcare_service_ids": [
                     *         "consultation"
                     *       ],
                     *       "start": "2027-03-15T17:00:00+01:00",
                     *       "end": "2027-03-15T20:00:00+01:00",
                     *       "slot_minutes": 30,
                     *       "recurrence": "FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20271231T235959",
                     *       "ends_at": "2027-07-01T00:00:00+02:00",
                     *       "exceptions": []
                     *     }
                     */
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden`, `time_range_invalid`, `local_time_nonexistent` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `resource_not_found`, `schedule_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress`, `schedule_has_appointments` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected`, `partially_applied` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `outcome_unknown`, `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    add_schedule_exception: {
        parameters: {
            query?: never;
            header?: {
                /** @description A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
                /**
                 * @description Resource ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`.
                 * @example r-1
                 */
                resource_id: string;
                /**
                 * @description Id of the schedule.
                 * @example 1f6ad7c3-0c1c-4a8e-8f40-5b0c6e1d7a91
                 */
                schedule_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "start_time": "2027-05-17T00:00:00",
                 *       "end_time": "2027-05-18T00:00:00"
                 *     }
                 */
                "application/json": components["schemas"]["ScheduleException"];
            };
        };
        responses: {
            /** @description The schedule. */
            200: {
                headers: {
                    /** @description Set to `true` when a stored response is replayed. */
                    "idempotency-replayed"?: string;
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "1f6ad7c3-0c1c-4a8e-8f40-5b0c6e1d7a91",
                     *       "resource_id": "emr_id:r-1",
                     *       "healthcare_service_ids": [
                     *         "consultation"
                     *       ],
                     *       "start": "2027-03-15T17:00:00+01:00",
                     *       "end": "2027-03-15T20:00:00+01:00",
                     *       "slot_minutes": 30,
                     *       "recurrence": "FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20271231T235959",
                     *       "ends_at": null,
                     *       "exceptions": [
                     *         {
                     *           "start": "2027-05-17T00:00:00+02:00",
                     *           "end": "2027-05-18T00:00:00+02:00"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden`, `time_range_invalid`, `local_time_nonexistent` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `resource_not_found`, `schedule_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress`, `schedule_has_appointments` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected`, `partially_applied` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `outcome_unknown`, `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_timeslots: {
        parameters: {
            query: {
                /** @description `next_cursor` of the previous page. Requires the same filters. */
                cursor?: string;
                /**
                 * @description End of the range, at most 92 days after `start`. RFC 3339. Local time if the offset is omitted.
                 * @example 2027-03-19T16:00:00
                 */
                end: string;
                /**
                 * @description Id of a healthcare service. Can be repeated.
                 * @example [
                 *       "consultation"
                 *     ]
                 */
                healthcare_service_id?: string[];
                /** @description Maximum number of entries on a page. */
                limit?: number;
                /** @description The patient who wants to book: only for an EHR whose `capabilities.timeslots_by_patient` is `optional` or `required`. Patient ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`. */
                patient_id?: string;
                resource_id?: string[];
                /**
                 * @description Start of the range. RFC 3339. Local time of the care unit if the offset is omitted.
                 * @example 2027-03-19T08:00:00
                 */
                start: string;
            };
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the care unit in the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Id of the EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Free time slots, sorted by start, resource and service. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "timeslots": [
                     *         {
                     *           "start": "2027-03-19T08:00:00+01:00",
                     *           "end": "2027-03-19T08:30:00+01:00",
                     *           "resource_id": "emr_id:r-1",
                     *           "healthcare_service_id": "consultation",
                     *           "modality": null
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description Cursor for the next page. Null on the last page. */
                        next_cursor: string | null;
                        timeslots: components["schemas"]["Timeslot"][];
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `time_range_invalid`, `local_time_nonexistent`, `cursor_invalid`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden`, `patient_not_found`, `resource_not_found`, `healthcare_service_not_found` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `patient_ambiguous` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_events: {
        parameters: {
            query?: {
                /** @description `next_after` of the previous response. Default: begins with the oldest event. */
                after?: string;
                /** @description Maximum number of events. */
                limit?: number;
            };
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events, the oldest first. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "events": [
                     *         {
                     *           "id": "0b54f1c6-8c0c-4f2e-9a3a-3f3d1e7b9c11",
                     *           "type": "appointment.updated",
                     *           "timestamp": "2026-03-19T12:00:00.000Z",
                     *           "emr": "sandbox-no",
                     *           "care_unit_id": "oslo-sentrum",
                     *           "data": {
                     *             "appointment_id": "b3a0f3d2-5a57-4a0a-9f63-0d5e4f1c2b7a",
                     *             "cancellation_id": null,
                     *             "status": "booked",
                     *             "start": "2026-03-20T10:00:00+01:00",
                     *             "end": "2026-03-20T10:30:00+01:00",
                     *             "resource_id": "emr_id:r-1",
                     *             "healthcare_service_id": "consultation",
                     *             "changed": [
                     *               "start",
                     *               "end"
                     *             ],
                     *             "previous": {
                     *               "start": "2026-03-20T09:00:00+01:00",
                     *               "end": "2026-03-20T09:30:00+01:00",
                     *               "resource_id": "emr_id:r-1"
                     *             }
                     *           }
                     *         }
                     *       ],
                     *       "next_after": "Zm9v",
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        events: components["schemas"]["Event"][];
                        /** @description Whether further events can be read at once. */
                        has_more: boolean;
                        /** @description Send it as `after` to continue. Also set if there are no further events yet. */
                        next_after: string;
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `cursor_invalid` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_access_token: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": {
                    /** @description A JWT that the client has signed (RS384, ES384 or EdDSA), with `kid` in its header (not needed if the client has one key), `iss` and `sub` the client id, `aud` the URL of this endpoint or the `issuer` in `/.well-known/oauth-authorization-server`, `exp` at most five minutes ahead, and a `jti` of its own. */
                    client_assertion: string;
                    /** @enum {string} */
                    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
                    /** @description The issuer of the assertion. Not needed. */
                    client_id?: string;
                    /** @enum {string} */
                    grant_type: "client_credentials";
                    /** @description System scopes of SMART App Launch 2.2 and the gateway's own, separated by spaces. Default: all of the gateway's own that the client has. */
                    scope?: string;
                };
            };
        };
        responses: {
            /** @description The access token. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "access_token": "eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
                     *       "token_type": "Bearer",
                     *       "expires_in": 300,
                     *       "scope": "system/Appointment.rs"
                     *     }
                     */
                    "application/json": {
                        access_token: string;
                        /** @description Seconds. */
                        expires_in: number;
                        /** @description What was granted, which can be less than what was asked for. */
                        scope: string;
                        /** @constant */
                        token_type: "Bearer";
                    };
                };
            };
            /** @description `invalid_request`, `invalid_client`, `unsupported_grant_type`, `invalid_scope`, as a problem: `request_invalid` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        error: "invalid_request" | "invalid_client" | "unsupported_grant_type" | "invalid_scope" | "temporarily_unavailable";
                        error_description: string;
                    };
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        error: "invalid_request" | "invalid_client" | "unsupported_grant_type" | "invalid_scope" | "temporarily_unavailable";
                        error_description: string;
                    };
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_services: {
        parameters: {
            query?: never;
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The services, sorted by `service`. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "services": [
                     *         {
                     *           "service": "vaccination",
                     *           "name": "Vaccination",
                     *           "care_units": [
                     *             {
                     *               "emr": "sandbox-no",
                     *               "care_unit_id": "oslo-sentrum",
                     *               "healthcare_service_ids": [
                     *                 "vaccination"
                     *               ]
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "unanswered": []
                     *     }
                     */
                    "application/json": {
                        services: {
                            care_units: {
                                care_unit_id: string;
                                emr: string;
                                /** @description What means it there. */
                                healthcare_service_ids: string[];
                            }[];
                            name: string;
                            /** @description What to send: a code of the operators, or a code that EHRs have, as `{system}|{code}`. */
                            service: string;
                        }[];
                        /** @description Care units whose services are not known now. */
                        unanswered: {
                            care_unit_id: string;
                            emr: string;
                            /**
                             * @description As in a problem document.
                             * @enum {string}
                             */
                            reason: "operation_unsupported" | "ehr_rejected" | "ehr_unavailable" | "ehr_paused" | "ehr_timeout" | "internal_error";
                        }[];
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    search_timeslots: {
        parameters: {
            query?: never;
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "start": "2027-03-19T08:00:00",
                 *       "end": "2027-04-19T00:00:00",
                 *       "time_of_day": {
                 *         "end": "12:00"
                 *       },
                 *       "limit": 50
                 *     }
                 */
                "application/json": components["schemas"]["TimeslotSearch"];
            };
        };
        responses: {
            /** @description Free time slots, sorted by start, EHR, care unit, resource and service. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "timeslots": [
                     *         {
                     *           "emr": "sandbox-no",
                     *           "care_unit_id": "oslo-sentrum",
                     *           "start": "2027-03-19T08:00:00+01:00",
                     *           "end": "2027-03-19T08:30:00+01:00",
                     *           "resource": {
                     *             "id": "emr_id:r-1",
                     *             "name": "Lege Test Testesen"
                     *           },
                     *           "healthcare_service_id": "consultation",
                     *           "modality": null,
                     *           "as_of": "2027-03-18T14:02:11Z"
                     *         }
                     *       ],
                     *       "unanswered": [
                     *         {
                     *           "emr": "sandbox-se",
                     *           "care_unit_id": "sodermalm",
                     *           "reason": "ehr_timeout",
                     *           "detail": "The EHR has not answered yet.",
                     *           "retry_after_seconds": 1
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description Cursor for the next page. Null on the last page. */
                        next_cursor: string | null;
                        timeslots: components["schemas"]["FoundTimeslot"][];
                        /** @description Care units of which slots may be missing on this page and later ones. Empty: none. */
                        unanswered: components["schemas"]["UnansweredCareUnit"][];
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `time_range_invalid`, `local_time_nonexistent`, `cursor_invalid`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden`, `healthcare_service_not_found` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable`, `ehr_paused` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_timeslot_watches: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Requires the same filters. */
                cursor?: string;
                /** @description Maximum number of entries on a page. */
                limit?: number;
            };
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The watches of the client that have not ended, sorted by id. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "watches": [
                     *         {
                     *           "id": "0d6f1a52-6e0e-4a53-9d0a-7a3a4a4f2f10",
                     *           "reference": "waiting-list-17",
                     *           "search": {
                     *             "start": "2027-03-19T08:00:00",
                     *             "end": "2027-04-19T00:00:00",
                     *             "time_of_day": {
                     *               "end": "12:00"
                     *             }
                     *           },
                     *           "until": "2027-03-31T22:00:00.000Z",
                     *           "created_at": "2027-03-18T14:02:11.000Z",
                     *           "looked_at": null,
                     *           "found_at": null
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description Cursor for the next page. Null on the last page. */
                        next_cursor: string | null;
                        watches: components["schemas"]["TimeslotWatch"][];
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `cursor_invalid` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_timeslot_watch: {
        parameters: {
            query?: never;
            header?: {
                /** @description A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reference": "waiting-list-17",
                 *       "search": {
                 *         "start": "2027-03-19T08:00:00",
                 *         "end": "2027-04-19T00:00:00",
                 *         "time_of_day": {
                 *           "end": "12:00"
                 *         }
                 *       },
                 *       "until": "2027-04-01T00:00:00+02:00"
                 *     }
                 */
                "application/json": components["schemas"]["TimeslotWatchCreation"];
            };
        };
        responses: {
            /** @description The watch. */
            201: {
                headers: {
                    /** @description Set to `true` when a stored response is replayed. */
                    "idempotency-replayed"?: string;
                    /** @description Path of the created object. */
                    location?: string;
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0d6f1a52-6e0e-4a53-9d0a-7a3a4a4f2f10",
                     *       "reference": "waiting-list-17",
                     *       "search": {
                     *         "start": "2027-03-19T08:00:00",
                     *         "end": "2027-04-19T00:00:00",
                     *         "time_of_day": {
                     *           "end": "12:00"
                     *         }
                     *       },
                     *       "until": "2027-03-31T22:00:00.000Z",
                     *       "created_at": "2027-03-18T14:02:11.000Z",
                     *       "looked_at": null,
                     *       "found_at": null
                     *     }
                     */
                    "application/json": components["schemas"]["TimeslotWatch"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `time_range_invalid`, `local_time_nonexistent`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden`, `healthcare_service_not_found` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress`, `watch_limit_reached` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `outcome_unknown` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_timeslot_watch: {
        parameters: {
            query?: never;
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the watch.
                 * @example 0d6f1a52-6e0e-4a53-9d0a-7a3a4a4f2f10
                 */
                watch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The watch. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0d6f1a52-6e0e-4a53-9d0a-7a3a4a4f2f10",
                     *       "reference": "waiting-list-17",
                     *       "search": {
                     *         "start": "2027-03-19T08:00:00",
                     *         "end": "2027-04-19T00:00:00",
                     *         "time_of_day": {
                     *           "end": "12:00"
                     *         }
                     *       },
                     *       "until": "2027-03-31T22:00:00.000Z",
                     *       "created_at": "2027-03-18T14:02:11.000Z",
                     *       "looked_at": null,
                     *       "found_at": null
                     *     }
                     */
                    "application/json": components["schemas"]["TimeslotWatch"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `watch_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_timeslot_watch: {
        parameters: {
            query?: never;
            header?: {
                /** @description A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the watch.
                 * @example 0d6f1a52-6e0e-4a53-9d0a-7a3a4a4f2f10
                 */
                watch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The watch is deleted. */
            204: {
                headers: {
                    /** @description Set to `true` when a stored response is replayed. */
                    "idempotency-replayed"?: string;
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `request_invalid`, `standard_unsupported` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `watch_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `outcome_unknown` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_webhook_endpoints: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Requires the same filters. */
                cursor?: string;
                /** @description Maximum number of entries on a page. */
                limit?: number;
            };
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoints of the client, sorted by id. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "webhook_endpoints": [
                     *         {
                     *           "id": "4a2d1f0e-9f55-4c43-8f0f-6a54b7c2d801",
                     *           "url": "https://hooks.clinic.example/crossward",
                     *           "event_types": [
                     *             "appointment.booked",
                     *             "appointment.updated",
                     *             "appointment.cancelled"
                     *           ],
                     *           "status": "enabled",
                     *           "disabled_reason": null,
                     *           "previous_secret_expires_at": null,
                     *           "failing_since": null,
                     *           "replaying": false,
                     *           "created_at": "2026-03-19T12:00:00.000Z",
                     *           "subscription": null
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description Cursor for the next page. Null on the last page. */
                        next_cursor: string | null;
                        webhook_endpoints: components["schemas"]["WebhookEndpoint"][];
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `cursor_invalid` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_webhook_endpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://hooks.clinic.example/crossward",
                 *       "event_types": [
                 *         "appointment.booked",
                 *         "appointment.updated",
                 *         "appointment.cancelled"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["WebhookEndpointCreation"];
            };
        };
        responses: {
            /** @description The endpoint with its secret. */
            201: {
                headers: {
                    /** @description Set to `true` when a stored response is replayed. */
                    "idempotency-replayed"?: string;
                    /** @description Path of the created object. */
                    location?: string;
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "4a2d1f0e-9f55-4c43-8f0f-6a54b7c2d801",
                     *       "url": "https://hooks.clinic.example/crossward",
                     *       "event_types": [
                     *         "appointment.booked",
                     *         "appointment.updated",
                     *         "appointment.cancelled"
                     *       ],
                     *       "status": "enabled",
                     *       "disabled_reason": null,
                     *       "previous_secret_expires_at": null,
                     *       "failing_since": null,
                     *       "replaying": false,
                     *       "created_at": "2026-03-19T12:00:00.000Z",
                     *       "subscription": null,
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw4tUjJ9mQhXk="
                     *     }
                     */
                    "application/json": components["schemas"]["NewWebhookEndpoint"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `webhook_url_rejected` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress`, `webhook_endpoint_limit_reached` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `outcome_unknown` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_webhook_endpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the endpoint.
                 * @example 4a2d1f0e-9f55-4c43-8f0f-6a54b7c2d801
                 */
                webhook_endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "4a2d1f0e-9f55-4c43-8f0f-6a54b7c2d801",
                     *       "url": "https://hooks.clinic.example/crossward",
                     *       "event_types": [
                     *         "appointment.booked",
                     *         "appointment.updated",
                     *         "appointment.cancelled"
                     *       ],
                     *       "status": "enabled",
                     *       "disabled_reason": null,
                     *       "previous_secret_expires_at": null,
                     *       "failing_since": null,
                     *       "replaying": false,
                     *       "created_at": "2026-03-19T12:00:00.000Z",
                     *       "subscription": null
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `webhook_endpoint_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_webhook_endpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the endpoint.
                 * @example 4a2d1f0e-9f55-4c43-8f0f-6a54b7c2d801
                 */
                webhook_endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint and its deliveries are deleted. */
            204: {
                headers: {
                    /** @description Set to `true` when a stored response is replayed. */
                    "idempotency-replayed"?: string;
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `request_invalid`, `standard_unsupported` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `webhook_endpoint_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `outcome_unknown` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    change_webhook_endpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the endpoint.
                 * @example 4a2d1f0e-9f55-4c43-8f0f-6a54b7c2d801
                 */
                webhook_endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "status": "enabled"
                 *     }
                 */
                "application/json": components["schemas"]["WebhookEndpointChange"];
            };
        };
        responses: {
            /** @description The endpoint. */
            200: {
                headers: {
                    /** @description Set to `true` when a stored response is replayed. */
                    "idempotency-replayed"?: string;
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "4a2d1f0e-9f55-4c43-8f0f-6a54b7c2d801",
                     *       "url": "https://hooks.clinic.example/crossward",
                     *       "event_types": [
                     *         "appointment.booked",
                     *         "appointment.updated",
                     *         "appointment.cancelled"
                     *       ],
                     *       "status": "enabled",
                     *       "disabled_reason": null,
                     *       "previous_secret_expires_at": null,
                     *       "failing_since": null,
                     *       "replaying": false,
                     *       "created_at": "2026-03-19T12:00:00.000Z",
                     *       "subscription": null
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `webhook_url_rejected` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `webhook_endpoint_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `outcome_unknown` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_webhook_deliveries: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Requires the same filters. */
                cursor?: string;
                /** @description Maximum number of entries on a page. */
                limit?: number;
                /** @description Returns deliveries in this status. */
                status?: "pending" | "delivered" | "failed";
            };
            header?: {
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the endpoint.
                 * @example 4a2d1f0e-9f55-4c43-8f0f-6a54b7c2d801
                 */
                webhook_endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deliveries to the endpoint, newest first. */
            200: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deliveries": [
                     *         {
                     *           "id": "7d8c6a54-1b1e-4f7a-a3e0-2a9f6d1c4b90",
                     *           "event_id": "0b54f1c6-8c0c-4f2e-9a3a-3f3d1e7b9c11",
                     *           "event_type": "appointment.updated",
                     *           "status": "pending",
                     *           "attempts": 2,
                     *           "created_at": "2026-03-19T12:00:00.000Z",
                     *           "last_attempt_at": "2026-03-19T12:00:05.000Z",
                     *           "next_attempt_at": "2026-03-19T12:00:35.000Z",
                     *           "completed_at": null,
                     *           "response_status": 503,
                     *           "reason": "status"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        deliveries: components["schemas"]["WebhookDelivery"][];
                        /** @description Cursor for the next page. Null on the last page. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `cursor_invalid` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `webhook_endpoint_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    redeliver_event: {
        parameters: {
            query?: never;
            header?: {
                /** @description A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of a delivery.
                 * @example 7d8c6a54-1b1e-4f7a-a3e0-2a9f6d1c4b90
                 */
                webhook_delivery_id: string;
                /**
                 * @description Id of the endpoint.
                 * @example 4a2d1f0e-9f55-4c43-8f0f-6a54b7c2d801
                 */
                webhook_endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery. */
            202: {
                headers: {
                    /** @description Set to `true` when a stored response is replayed. */
                    "idempotency-replayed"?: string;
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "7d8c6a54-1b1e-4f7a-a3e0-2a9f6d1c4b90",
                     *       "event_id": "0b54f1c6-8c0c-4f2e-9a3a-3f3d1e7b9c11",
                     *       "event_type": "appointment.updated",
                     *       "status": "pending",
                     *       "attempts": 2,
                     *       "created_at": "2026-03-19T12:00:00.000Z",
                     *       "last_attempt_at": "2026-03-19T12:00:05.000Z",
                     *       "next_attempt_at": "2026-03-19T12:00:35.000Z",
                     *       "completed_at": null,
                     *       "response_status": 503,
                     *       "reason": "status"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `webhook_endpoint_not_found`, `webhook_delivery_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress`, `webhook_endpoint_disabled` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `outcome_unknown` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    replay_events: {
        parameters: {
            query?: never;
            header?: {
                /** @description A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the endpoint.
                 * @example 4a2d1f0e-9f55-4c43-8f0f-6a54b7c2d801
                 */
                webhook_endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "from": "2026-03-19T00:00:00Z"
                 *     }
                 */
                "application/json": components["schemas"]["WebhookReplay"];
            };
        };
        responses: {
            /** @description The replay has started. */
            202: {
                headers: {
                    /** @description Set to `true` when a stored response is replayed. */
                    "idempotency-replayed"?: string;
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "4a2d1f0e-9f55-4c43-8f0f-6a54b7c2d801",
                     *       "url": "https://hooks.clinic.example/crossward",
                     *       "event_types": [
                     *         "appointment.booked",
                     *         "appointment.updated",
                     *         "appointment.cancelled"
                     *       ],
                     *       "status": "enabled",
                     *       "disabled_reason": null,
                     *       "previous_secret_expires_at": null,
                     *       "failing_since": null,
                     *       "replaying": true,
                     *       "created_at": "2026-03-19T12:00:00.000Z",
                     *       "subscription": null
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `webhook_endpoint_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress`, `webhook_endpoint_disabled` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `outcome_unknown` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rotate_webhook_secret: {
        parameters: {
            query?: never;
            header?: {
                /** @description A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the endpoint.
                 * @example 4a2d1f0e-9f55-4c43-8f0f-6a54b7c2d801
                 */
                webhook_endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "overlap_seconds": 86400
                 *     }
                 */
                "application/json": components["schemas"]["WebhookSecretRotation"];
            };
        };
        responses: {
            /** @description The endpoint with its new secret. */
            200: {
                headers: {
                    /** @description Set to `true` when a stored response is replayed. */
                    "idempotency-replayed"?: string;
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "4a2d1f0e-9f55-4c43-8f0f-6a54b7c2d801",
                     *       "url": "https://hooks.clinic.example/crossward",
                     *       "event_types": [
                     *         "appointment.booked",
                     *         "appointment.updated",
                     *         "appointment.cancelled"
                     *       ],
                     *       "status": "enabled",
                     *       "disabled_reason": null,
                     *       "previous_secret_expires_at": "2026-03-20T12:00:00.000Z",
                     *       "failing_since": null,
                     *       "replaying": false,
                     *       "created_at": "2026-03-19T12:00:00.000Z",
                     *       "subscription": null,
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw4tUjJ9mQhXk="
                     *     }
                     */
                    "application/json": components["schemas"]["NewWebhookEndpoint"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `webhook_endpoint_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `outcome_unknown` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    test_webhook_endpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. Defaults to `native`. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Id of the endpoint.
                 * @example 4a2d1f0e-9f55-4c43-8f0f-6a54b7c2d801
                 */
                webhook_endpoint_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event will be delivered. */
            202: {
                headers: {
                    /** @description Set to `true` when a stored response is replayed. */
                    "idempotency-replayed"?: string;
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "event_id": "0b54f1c6-8c0c-4f2e-9a3a-3f3d1e7b9c11"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookTest"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported` */
            400: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `webhook_endpoint_not_found` */
            404: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress`, `webhook_endpoint_disabled` */
            409: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `outcome_unknown` */
            504: {
                headers: {
                    /** @description Id of the request: echoed, or generated by the gateway. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    receive_event: {
        parameters: {
            query?: never;
            header: {
                /** @description Id of the event. */
                "webhook-id": string;
                /** @description One signature for each valid secret: `v1,{base64}`, separated by spaces. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Event"];
            };
        };
        responses: {
            /** @description The event is stored. It is not sent again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The gateway disables the endpoint. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The gateway sends the event again later. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}

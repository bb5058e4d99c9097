import ca.uhn.fhir.context.FhirContext;
import ca.uhn.fhir.context.support.DefaultProfileValidationSupport;
import ca.uhn.fhir.rest.api.EncodingEnum;
import ca.uhn.fhir.rest.api.SearchStyleEnum;
import ca.uhn.fhir.rest.client.api.IClientInterceptor;
import ca.uhn.fhir.rest.client.api.IGenericClient;
import ca.uhn.fhir.rest.client.api.IHttpRequest;
import ca.uhn.fhir.rest.client.api.IHttpResponse;
import ca.uhn.fhir.rest.server.exceptions.BaseServerResponseException;
import ca.uhn.fhir.validation.FhirValidator;
import ca.uhn.fhir.validation.ResultSeverityEnum;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hl7.fhir.common.hapi.validation.support.CommonCodeSystemsTerminologyService;
import org.hl7.fhir.common.hapi.validation.support.InMemoryTerminologyServerValidationSupport;
import org.hl7.fhir.common.hapi.validation.support.ValidationSupportChain;
import org.hl7.fhir.common.hapi.validation.validator.FhirInstanceValidator;
import org.hl7.fhir.r4.model.Appointment;
import org.hl7.fhir.r4.model.Bundle;
import org.hl7.fhir.r4.model.CodeType;
import org.hl7.fhir.r4.model.OperationDefinition;
import org.hl7.fhir.r4.model.OperationOutcome;
import org.hl7.fhir.r4.model.Parameters;
import org.hl7.fhir.r4.model.Patient;
import org.hl7.fhir.r4.model.Reference;
import org.hl7.fhir.r4.model.Slot;
import org.hl7.fhir.r4.model.StringType;
import org.hl7.fhir.r4.model.Subscription;

/** Books, moves and cancels with HAPI's client, and prints as JSON what happened and what HAPI's validator says of each response. */
class BookInFhir {
  static final FhirContext context = FhirContext.forR4();
  static final List<String> responses = new ArrayList<>();

  /** Sends the credentials, and keeps each response. */
  static final IClientInterceptor interceptor = new IClientInterceptor() {
    @Override
    public void interceptRequest(IHttpRequest request) {
      request.addHeader("x-service-client-id", System.getenv("CROSSWARD_CLIENT_ID"));
      request.addHeader("x-service-client-secret", System.getenv("CROSSWARD_CLIENT_SECRET"));
    }

    @Override
    public void interceptResponse(IHttpResponse response) throws IOException {
      response.bufferEntity();
      try (var body = response.readEntity()) {
        if (body != null) responses.add(new String(body.readAllBytes(), StandardCharsets.UTF_8));
      }
    }
  };

  static IGenericClient clientOf(String base) {
    context.getRestfulClientFactory().setSocketTimeout(60_000);
    var client = context.newRestfulGenericClient(base);
    client.registerInterceptor(interceptor);
    return client;
  }

  static Bundle search(IGenericClient client, String url) {
    return client.search().byUrl(url).returnBundle(Bundle.class).execute();
  }

  /** Slots of one day, three on each page. */
  static List<Slot> slotsOf(IGenericClient client) {
    var slots = new ArrayList<Slot>();
    var page = search(client, "Slot?schedule.actor=Practitioner/r-1&service-type=consultation"
        + "&start=ge2030-03-15&start=lt2030-03-16&_include=Slot:schedule&_count=3");
    while (true) {
      for (var entry : page.getEntry()) if (entry.getResource() instanceof Slot slot) slots.add(slot);
      if (page.getLink(Bundle.LINK_NEXT) == null) return slots;
      page = client.loadPage().next(page).execute();
    }
  }

  static Appointment bookingOf(Slot slot) {
    var appointment = new Appointment();
    appointment.setStatus(Appointment.AppointmentStatus.BOOKED);
    appointment.addSlot(new Reference(slot.getIdElement().toUnqualifiedVersionless()));
    appointment.addParticipant()
        .setActor(new Reference("Patient/p-3"))
        .setStatus(Appointment.ParticipationStatus.ACCEPTED);
    return appointment;
  }

  static Appointment moved(Appointment appointment, Slot to) {
    var copy = appointment.copy();
    copy.setSlot(null).setMinutesDurationElement(null);
    return copy.setStart(to.getStart()).setEnd(to.getEnd());
  }

  /** Subscribes, waits until the endpoint has accepted the handshake, turns the Subscription off and deletes it. */
  static List<Object> subscribed(IGenericClient client) throws Exception {
    var sent = new Subscription();
    sent.setStatus(Subscription.SubscriptionStatus.REQUESTED).setReason("java");
    sent.setCriteria("urn:crossward:subscription-topic:appointment-cancelled");
    var channel = sent.getChannel().setType(Subscription.SubscriptionChannelType.RESTHOOK);
    channel.setEndpoint(System.getenv("RECEIVER")).setPayload("application/fhir+json").addHeader("X-Token: secret");
    channel.getPayloadElement().addExtension(
        "http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition/backport-payload-content",
        new CodeType("id-only"));
    var id = client.create().resource(sent).execute().getId().toUnqualifiedVersionless();
    Subscription read;
    do {
      Thread.sleep(50);
      read = client.read().resource(Subscription.class).withId(id).execute();
    } while (read.getStatus() == Subscription.SubscriptionStatus.REQUESTED);
    var found = search(client, "Subscription?status=active&criteria=" + sent.getCriteria()).getTotal();
    var active = read.getStatus().toCode();
    var off = (Subscription) client.update().resource(read.setStatus(Subscription.SubscriptionStatus.OFF)).execute()
        .getResource();
    client.delete().resourceById(id).execute();
    return List.of(active, found, off.getStatus().toCode(), off.getChannel().getHeader().get(0).getValue());
  }

  static Appointment cancel(IGenericClient client, Appointment appointment) {
    var patch = new Parameters();
    var operation = patch.addParameter().setName("operation");
    operation.addPart().setName("type").setValue(new CodeType("replace"));
    operation.addPart().setName("path").setValue(new StringType("Appointment.status"));
    operation.addPart().setName("value").setValue(new CodeType("cancelled"));
    var id = appointment.getIdElement().toUnqualifiedVersionless();
    return (Appointment) client.patch().withFhirPatch(patch).withId(id).execute().getResource();
  }

  /** Status and issue type. */
  static List<Object> refusal(Runnable call) {
    try {
      call.run();
      return List.of();
    } catch (BaseServerResponseException refused) {
      var outcome = (OperationOutcome) refused.getOperationOutcome();
      return List.of(refused.getStatusCode(), outcome.getIssueFirstRep().getCode().toCode());
    }
  }

  static List<String> faults() {
    var support = new ValidationSupportChain(
        new DefaultProfileValidationSupport(context),
        new InMemoryTerminologyServerValidationSupport(context),
        new CommonCodeSystemsTerminologyService(context));
    FhirValidator validator = context.newValidator().registerValidatorModule(new FhirInstanceValidator(support));
    return responses.stream()
        .distinct()
        .flatMap((it) -> validator.validateWithResult(it).getMessages().stream())
        .filter((it) -> it.getSeverity().compareTo(ResultSeverityEnum.ERROR) >= 0)
        .map((it) -> it.getLocationString() + ": " + it.getMessage())
        .distinct()
        .toList();
  }

  /** Reads the files of a manifest of SMART Scheduling Links. The first resources of each are validated with the responses. */
  static List<String> published(String manifest) throws Exception {
    var http = HttpClient.newHttpClient();
    var types = new ArrayList<String>();
    for (var file : new ObjectMapper().readTree(read(http, manifest)).get("output")) {
      var lines = read(http, file.get("url").asText()).lines().limit(20).toList();
      for (var line : lines) types.add(context.newJsonParser().parseResource(line).fhirType());
      responses.addAll(lines);
    }
    return types.stream().distinct().toList();
  }

  static String read(HttpClient http, String url) throws Exception {
    return http.send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString()).body();
  }

  public static void main(String[] args) throws Exception {
    Map<String, Object> result = new LinkedHashMap<>();
    var client = clientOf(System.getenv("FHIR_BASE"));
    for (var url : List.of("Practitioner", "Location", "Device", "HealthcareService?_include=HealthcareService:location",
        "Schedule?_include=Schedule:actor")) search(client, url);
    var patients = client.search().forResource(Patient.class)
        .where(Patient.IDENTIFIER.exactly().systemAndIdentifier("urn:oid:2.16.578.1.12.4.1.4.1", "15859000026"))
        .usingStyle(SearchStyleEnum.POST).returnBundle(Bundle.class).execute();
    result.put("patients", patients.getTotal());

    var slots = slotsOf(client);
    var first = slots.get(0);
    var last = slots.get(slots.size() - 1);
    result.put("paged", slots.size() > 3);

    var sent = bookingOf(first);
    sent.addIdentifier().setSystem("urn:oid:2.999.1").setValue("java");
    client.validate().resource(sent).execute();
    var created = new ArrayList<Boolean>();
    Appointment booked = null;
    for (var time = 0; time < 2; time++) {
      var outcome = client.create().resource(sent).conditional()
          .where(Appointment.IDENTIFIER.exactly().systemAndIdentifier("urn:oid:2.999.1", "java")).execute();
      created.add(Boolean.TRUE.equals(outcome.getCreated()));
      booked = (Appointment) outcome.getResource();
    }
    result.put("created", created);
    result.put("booked", List.of(booked.getStatus().toCode(), booked.getStart().equals(first.getStart())));
    result.put("taken", refusal(() -> client.create().resource(bookingOf(first)).execute()));

    var before = booked;
    client.update().resource(moved(before, last)).execute();
    var read = client.read().resource(Appointment.class).withId(booked.getIdElement().getIdPart()).execute();
    result.put("moved", read.getStart().equals(last.getStart()));
    result.put("stale", refusal(() -> client.update().resource(moved(before, first)).execute()));
    result.put("cancelled", cancel(client, read).getStatus().toCode());
    search(client, "Appointment?patient=p-3&_include=Appointment:actor&_include=Appointment:slot");

    var inXml = clientOf(System.getenv("FHIR_BASE"));
    inXml.setEncoding(EncodingEnum.XML);
    var inJson = responses.size();
    var again = (Appointment) inXml.create().resource(bookingOf(slotsOf(inXml).get(0))).execute().getResource();
    var taken = refusal(() -> inXml.create().resource(bookingOf(first)).execute());
    var later = (Appointment) inXml.update().resource(moved(again, last)).execute().getResource();
    result.put("inXml", List.of(again.getStart().equals(first.getStart()), taken,
        later.getStart().equals(last.getStart()), cancel(inXml, later).getStatus().toCode(),
        responses.stream().skip(inJson).allMatch((it) -> it.startsWith("<"))));

    result.put("subscribed", subscribed(client));

    var withCodes = clientOf(System.getenv("FHIR_BASE_WITH_CODES"));
    var pending = (Appointment) withCodes.create().resource(bookingOf(slotsOf(withCodes).get(0))).execute().getResource();
    result.put("withCode", List.of(pending.getStatus().toCode(), cancel(withCodes, pending).getStatus().toCode()));

    var everywhere = clientOf(System.getenv("FHIR_BASE_OF_ALL"));
    result.put("operations", List.of("confirm", "resend-code").stream()
        .map((code) -> everywhere.read().resource(OperationDefinition.class).withId(code).execute().getCode()).toList());
    for (var url : List.of("Practitioner", "Device", "HealthcareService?_include=HealthcareService:location",
        "Schedule?_include=Schedule:actor")) search(everywhere, url);
    var place = search(everywhere, "Location?name=Oslo").getEntryFirstRep().getResource().getIdElement();
    var times = search(everywhere, "Slot?service-type=consultation&start=ge2030-03-15&_count=2&_include=Slot:schedule"
        + "&_include:iterate=Schedule:actor&schedule.actor=" + place.toUnqualifiedVersionless().getValue());
    var next = everywhere.loadPage().next(times).execute();
    var free = (Slot) next.getEntryFirstRep().getResource();
    var anywhere = bookingOf(free);
    anywhere.getParticipantFirstRep().setActor(new Reference(System.getenv("FHIR_BASE") + "/Patient/p-3"));
    var there = (Appointment) everywhere.create().resource(anywhere).execute().getResource();
    result.put("anywhere", List.of(there.getStart().equals(free.getStart()),
        cancel(everywhere, there).getStatus().toCode()));

    result.put("published", published(System.getenv("FHIR_BASE_OF_ALL") + "/$bulk-publish"));

    responses.addAll(Files.readAllLines(Path.of(System.getenv("NOTIFICATIONS"))));
    result.put("responses", responses.size());
    result.put("faults", faults());
    System.out.println(new ObjectMapper().writeValueAsString(result));
  }
}

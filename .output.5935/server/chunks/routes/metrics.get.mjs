import { J as useContext, $ as setResponseHeader } from '../nitro/nitro.mjs';
import { v as viewCertificates } from '../_/view6.mjs';
import { d as defineEndpoint } from '../_/endpoint.mjs';
import { L as LATENCY_BUCKETS_SECONDS } from '../_/latency-buckets.mjs';
import { f as freshLatest } from '../_/latest.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:util';
import 'node:net';
import 'zod';
import '../_/names.mjs';
import 'node:url';
import 'tldts';
import '../_/bare-host.mjs';
import '../_/hosts2.mjs';
import '../_/changes.mjs';
import '../_/store4.mjs';
import '../_/store.mjs';
import '../_/hosts.mjs';
import '../_/types.mjs';
import '../_/qualified-name.mjs';
import '../_/store5.mjs';
import 'node:stream';
import 'node:timers/promises';
import '../_/send.mjs';
import '../_/compression.mjs';
import 'node:zlib';
import '../_/validate.mjs';

const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const STATUS_CLASSES = ["2xx", "3xx", "4xx", "5xx"];
function exposition({ version, certificates }, latest) {
  const families = [
    gauge("svc_build_info", "The version of the server; always 1.", [[{ version }, 1]]),
    gauge(
      "svc_certificate_not_after_timestamp_seconds",
      "When the certificate of a host ends.",
      certificates.map(([host, expiresAt]) => [{ host }, expiresAt])
    ),
    ...latest ? hostFamilies(latest.sample.host) : [],
    ...containerFamilies(latest?.reading?.containers ?? []),
    ...latest?.sample.requests ? requestFamilies(latest.sample.requests) : []
  ];
  return families.map(textOf).join("");
}
function hostFamilies({ cpuCount, cpuSeconds, memory, disks, interfaces }) {
  const ofDisks = (value) => disks.map((disk) => [{ mount_point: disk.mountPoint }, value(disk)]);
  const ofInterfaces = (key) => (interfaces ?? []).map((each) => [{ device: each.device }, each[key]]);
  return [
    gauge("svc_host_cpu_count", "CPUs of the host.", [[{}, cpuCount]]),
    counter(
      "svc_host_cpu_seconds_total",
      "Seconds that the CPUs of the host spent in each mode.",
      Object.entries(cpuSeconds ?? {}).map(([mode, seconds]) => [{ mode }, seconds])
    ),
    gauge("svc_host_memory_total_bytes", "Memory of the host.", [[{}, memory && memory.totalBytes]]),
    gauge("svc_host_memory_available_bytes", "Memory that programs can have without swapping.", [
      [{}, memory && memory.availableBytes]
    ]),
    gauge(
      "svc_host_disk_total_bytes",
      "Size of a file system.",
      ofDisks(({ totalBytes }) => totalBytes)
    ),
    gauge(
      "svc_host_disk_used_bytes",
      "What is used of a file system.",
      ofDisks(({ usedBytes }) => usedBytes)
    ),
    counter(
      "svc_host_disk_read_bytes_total",
      "Read from its device.",
      ofDisks(({ readBytes }) => readBytes)
    ),
    counter(
      "svc_host_disk_written_bytes_total",
      "Written to its device.",
      ofDisks(({ writtenBytes }) => writtenBytes)
    ),
    counter(
      "svc_host_network_receive_bytes_total",
      "Received by an interface.",
      ofInterfaces("receivedBytes")
    ),
    counter(
      "svc_host_network_transmit_bytes_total",
      "Sent by an interface.",
      ofInterfaces("transmittedBytes")
    )
  ];
}
function containerFamilies(containers) {
  const samples = (key) => containers.map((each) => [labelsOf(each), each[key]]);
  return [
    gauge("svc_container_cpu_percent", "CPU use of a container; 100 is one core.", samples("cpuPercent")),
    gauge("svc_container_memory_bytes", "Memory of a container without page cache.", samples("memoryBytes"))
  ];
}
function labelsOf({ kind, id, name, container }) {
  return { kind, id, name, ...kind === "service" ? { instance_id: container } : {} };
}
function requestFamilies({ targets }) {
  const named = targets.flatMap(
    ({ target, name, ...counted }) => name === null ? [] : [{ labels: { target, name }, ...counted }]
  );
  return [
    counter(
      "svc_http_requests_total",
      "Requests by the class of their status.",
      named.flatMap(
        ({ labels, statuses }) => statuses.map((count, index) => [
          { ...labels, status_class: STATUS_CLASSES[index] },
          count
        ])
      )
    ),
    {
      name: "svc_http_request_duration_seconds",
      type: "histogram",
      help: "Time from the request to the head of its answer.",
      samples: named.flatMap(({ labels, latency }) => histogram(labels, latency.buckets, latency.sumSeconds))
    }
  ];
}
function histogram(labels, buckets, sumSeconds) {
  let count = 0;
  const bounds = [...LATENCY_BUCKETS_SECONDS.map(String), "+Inf"].map(
    (le, index) => {
      count += buckets[index] ?? 0;
      return [{ ...labels, le }, count, "_bucket"];
    }
  );
  return [...bounds, [labels, sumSeconds, "_sum"], [labels, count, "_count"]];
}
function gauge(name, help, samples) {
  return { name, type: "gauge", help, samples };
}
function counter(name, help, samples) {
  return { name, type: "counter", help, samples };
}
function textOf({ name, type, help, samples }) {
  const lines = samples.filter(([, value]) => value !== null).map(([labels, value, suffix = ""]) => `${name}${suffix}${labelText(labels)} ${value}
`);
  return lines.length === 0 ? "" : `# HELP ${name} ${help}
# TYPE ${name} ${type}
${lines.join("")}`;
}
function labelText(labels) {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}
function escaped(value) {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

const endpoint132 = defineEndpoint({
  summary: "Read the numbers of the server as Prometheus scrapes them",
  auth: "token",
  response: { contentType: EXPOSITION_TYPE, description: "Prometheus' text format 0.0.4" },
  handler({ event }) {
    const certificates = viewCertificates().flatMap(
      ({ host, expires_at }) => expires_at === null ? [] : [[host, Date.parse(expires_at) / 1e3]]
    );
    const text = exposition({ version: useContext().version, certificates }, freshLatest());
    setResponseHeader(event, "content-type", EXPOSITION_TYPE);
    event.node.res.end(text);
  }
});

export { endpoint132 as default };

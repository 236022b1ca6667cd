#include "live/codec/api_fields.h"
#include "live/codec/wire_reader.h"
#include "live/codec/wire_writer.h"

namespace orrery {

template void write_wire(const Nothing&, Message&);
template Result<Nothing> read_wire(const Message&);
template void write_wire(const JobRequest&, Message&);
template Result<JobRequest> read_wire(const Message&);
template void write_wire(const SubmitRequest&, Message&);
template Result<SubmitRequest> read_wire(const Message&);
template void write_wire(const SubmitAnswer&, Message&);
template Result<SubmitAnswer> read_wire(const Message&);
template void write_wire(const JobStatus&, Message&);
template Result<JobStatus> read_wire(const Message&);
template void write_wire(const StatusRequest&, Message&);
template Result<StatusRequest> read_wire(const Message&);
template void write_wire(const StatusAnswer&, Message&);
template Result<StatusAnswer> read_wire(const Message&);
template void write_wire(const CancelRequest&, Message&);
template Result<CancelRequest> read_wire(const Message&);
template void write_wire(const CancelAnswer&, Message&);
template Result<CancelAnswer> read_wire(const Message&);
template void write_wire(const LogsRequest&, Message&);
template Result<LogsRequest> read_wire(const Message&);
template void write_wire(const LogsAnswer&, Message&);
template Result<LogsAnswer> read_wire(const Message&);
template void write_wire(const NodeStatus&, Message&);
template Result<NodeStatus> read_wire(const Message&);
template void write_wire(const NodesAnswer&, Message&);
template Result<NodesAnswer> read_wire(const Message&);
template void write_wire(const DrainRequest&, Message&);
template Result<DrainRequest> read_wire(const Message&);
template void write_wire(const PolicyRequest&, Message&);
template Result<PolicyRequest> read_wire(const Message&);
template void write_wire(const QuotaRequest&, Message&);
template Result<QuotaRequest> read_wire(const Message&);
template void write_wire(const QuotaStatus&, Message&);
template Result<QuotaStatus> read_wire(const Message&);
template void write_wire(const QuotasAnswer&, Message&);
template Result<QuotasAnswer> read_wire(const Message&);
template void write_wire(const TenantRequest&, Message&);
template Result<TenantRequest> read_wire(const Message&);
template void write_wire(const TenantsAnswer&, Message&);
template Result<TenantsAnswer> read_wire(const Message&);
template void write_wire(const LimitsRequest&, Message&);
template Result<LimitsRequest> read_wire(const Message&);
template void write_wire(const LimitsAnswer&, Message&);
template Result<LimitsAnswer> read_wire(const Message&);
template void write_wire(const EventsRequest&, Message&);
template Result<EventsRequest> read_wire(const Message&);
template void write_wire(const EventsAnswer&, Message&);
template Result<EventsAnswer> read_wire(const Message&);
template void write_wire(const WhatIfRequest&, Message&);
template Result<WhatIfRequest> read_wire(const Message&);
template void write_wire(const WhatIfAnswer&, Message&);
template Result<WhatIfAnswer> read_wire(const Message&);
template void write_wire(const SituationAnswer&, Message&);
template Result<SituationAnswer> read_wire(const Message&);
template void write_wire(const TokenRequest&, Message&);
template Result<TokenRequest> read_wire(const Message&);
template void write_wire(const TokenAnswer&, Message&);
template Result<TokenAnswer> read_wire(const Message&);
template void write_wire(const TokensRequest&, Message&);
template Result<TokensRequest> read_wire(const Message&);
template void write_wire(const TokensAnswer&, Message&);
template Result<TokensAnswer> read_wire(const Message&);
template void write_wire(const CertificatesRequest&, Message&);
template Result<CertificatesRequest> read_wire(const Message&);
template void write_wire(const CertificatesAnswer&, Message&);
template Result<CertificatesAnswer> read_wire(const Message&);
template void write_wire(const RemoveNodeRequest&, Message&);
template Result<RemoveNodeRequest> read_wire(const Message&);
template void write_wire(const JoinRequest&, Message&);
template Result<JoinRequest> read_wire(const Message&);
template void write_wire(const JoinAnswer&, Message&);
template Result<JoinAnswer> read_wire(const Message&);

}  // namespace orrery

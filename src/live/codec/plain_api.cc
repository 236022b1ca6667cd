#include "live/codec/api_fields.h"
#include "live/codec/plain_reader.h"
#include "live/codec/plain_writer.h"

namespace orrery {

bool PlainReader::read_varint(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool PlainReader::split(std::string_view bytes) {
  while (!bytes.empty()) {
    std::uint64_t tag = 0;
    if (!read_varint(bytes, tag)) return false;
    Item item{.number = tag >> 3};
    std::size_t fixed = 0;
    switch (tag & 7) {
      case 0:
        if (!read_varint(bytes, item.value)) return false;
        break;
      case 1:
        fixed = 8;
        break;
      case 2:
        if (!read_varint(bytes, item.value) || item.value > bytes.size()) return false;
        item.sized = true;
        item.content = bytes.substr(0, item.value);
        bytes.remove_prefix(item.value);
        break;
      case 5:
        fixed = 4;
        break;
      default:
        return false;
    }
    if (fixed > bytes.size() || item.number == 0) return false;
    for (std::size_t i = 0; i < fixed; ++i) {
      item.value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
    bytes.remove_prefix(fixed);
    items_.push_back(item);
  }
  return true;
}

template void append_plain(const Nothing&, std::string&);
template void append_plain(const SubmitRequest&, std::string&);
template void append_plain(const StatusRequest&, std::string&);
template void append_plain(const CancelRequest&, std::string&);
template void append_plain(const LogsRequest&, std::string&);
template void append_plain(const DrainRequest&, std::string&);
template void append_plain(const PolicyRequest&, std::string&);
template void append_plain(const QuotaRequest&, std::string&);
template void append_plain(const TenantRequest&, std::string&);
template void append_plain(const LimitsRequest&, std::string&);
template void append_plain(const EventsRequest&, std::string&);
template void append_plain(const WhatIfRequest&, std::string&);
template void append_plain(const TokenRequest&, std::string&);
template void append_plain(const TokensRequest&, std::string&);
template void append_plain(const CertificatesRequest&, std::string&);
template void append_plain(const RemoveNodeRequest&, std::string&);
template Result<Nothing> read_plain(std::string_view);
template Result<SubmitAnswer> read_plain(std::string_view);
template Result<StatusAnswer> read_plain(std::string_view);
template Result<CancelAnswer> read_plain(std::string_view);
template Result<LogsAnswer> read_plain(std::string_view);
template Result<NodesAnswer> read_plain(std::string_view);
template Result<QuotasAnswer> read_plain(std::string_view);
template Result<TenantsAnswer> read_plain(std::string_view);
template Result<LimitsAnswer> read_plain(std::string_view);
template Result<EventsAnswer> read_plain(std::string_view);
template Result<WhatIfAnswer> read_plain(std::string_view);
template Result<SituationAnswer> read_plain(std::string_view);
template Result<TokenAnswer> read_plain(std::string_view);
template Result<CertificatesAnswer> read_plain(std::string_view);
template Result<TokensAnswer> read_plain(std::string_view);

}  // namespace orrery
